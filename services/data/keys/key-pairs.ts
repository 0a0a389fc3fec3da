import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import type { Secrets } from '../store/secrets.ts';

/** Public key as JSON Web Key (RFC 7517). */
export interface PublicJwk {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly y: string;
  readonly alg: 'ES256';
  readonly kid: string;
  readonly use: 'sig';
  readonly key_ops: readonly ['verify'];
  readonly ext: true;
}

/** P-256 key pair. The private key signs, the public key is published. */
export interface KeyPair {
  readonly kid: string;
  /** Creation time, ms since the epoch. */
  readonly madeAt: number;
  /** Time until which its tokens are valid; null for the signing pair. */
  readonly endsAt: number | null;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly jwk: PublicJwk;
}

const StoredPairs = z.array(
  z.object({
    madeAt: z.number(),
    endsAt: z.number().nullable(),
    jwk: z.object({ kty: z.literal('EC'), crv: z.literal('P-256'), x: z.string(), y: z.string(), d: z.string() }),
  }),
);
type StoredPairs = z.infer<typeof StoredPairs>;
const secretName = 'pairs';

/** Key pairs for tokens. At most one pair signs, earlier ones verify for a while. */
export class KeyPairs {
  readonly #secrets: Secrets;
  readonly #clock: Context['clock'];
  #stored: StoredPairs = [];
  #pairs: readonly KeyPair[] = [];

  constructor(secrets: Secrets, clock: Context['clock']) {
    this.#secrets = secrets;
    this.#clock = clock;
  }

  async open(): Promise<void> {
    await this.#use(StoredPairs.parse(JSON.parse(await this.#secrets.getOrCreate(secretName, () => '[]'))));
  }

  /** Signing pair. */
  get current(): KeyPair | undefined {
    return this.#pairs.find(({ endsAt }) => endsAt === null);
  }

  /** Earlier pairs whose tokens are still valid, newest first. */
  get earlier(): readonly KeyPair[] {
    return this.#pairs.filter(({ endsAt }) => endsAt !== null && endsAt > this.#clock.now());
  }

  /** Public keys of all valid pairs. */
  get published(): readonly PublicJwk[] {
    return [...(this.current === undefined ? [] : [this.current]), ...this.earlier].map(({ jwk }) => jwk);
  }

  publicKey(kid: string): KeyObject | undefined {
    return [this.current, ...this.earlier].find((pair) => pair?.kid === kid)?.publicKey;
  }

  /** Creates a new signing pair. Tokens of the former pair are valid until `endsAt`. */
  async create(endsAt: number): Promise<void> {
    const { x, y, d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    const jwk = { kty: 'EC', crv: 'P-256', x, y, d };
    const [created] = StoredPairs.parse([{ madeAt: this.#clock.now(), endsAt: null, jwk }]);
    await this.#store([...(created === undefined ? [] : [created]), ...this.#retired(endsAt)]);
  }

  /** Stops signing with a pair. Tokens of the last pair are valid until `endsAt`. */
  async retire(endsAt: number): Promise<void> {
    await this.#store(this.#retired(endsAt));
  }

  /** Rejects tokens of earlier pairs from now on. */
  async endEarlier(): Promise<void> {
    await this.#store(this.#stored.filter(({ endsAt }) => endsAt === null));
  }

  #retired(until: number): StoredPairs {
    const now = this.#clock.now();
    return this.#stored
      .filter(({ endsAt }) => endsAt === null || endsAt > now)
      .map((pair) => ({ ...pair, endsAt: pair.endsAt ?? until }));
  }

  async #store(all: StoredPairs): Promise<void> {
    await this.#secrets.replace(secretName, JSON.stringify(all));
    await this.#use(all);
  }

  async #use(all: StoredPairs): Promise<void> {
    const pairs = await Promise.all(all.map(toKeyPair));
    this.#stored = all;
    this.#pairs = pairs;
  }
}

async function toKeyPair({ madeAt, endsAt, jwk }: StoredPairs[number]): Promise<KeyPair> {
  const { kty, crv, x, y } = jwk;
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  const kid = await calculateJwkThumbprint({ crv, kty, x, y });
  return {
    kid,
    madeAt,
    endsAt,
    privateKey,
    publicKey: createPublicKey(privateKey),
    jwk: { kty, crv, x, y, kid, alg: 'ES256', use: 'sig', key_ops: ['verify'], ext: true },
  };
}
