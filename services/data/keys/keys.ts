import { createHash } from 'node:crypto';
import type { Context } from '../../contracts/service.ts';
import { CachedRows } from '../../kit/cached-rows.ts';
import type { Settings } from '../settings.ts';
import { Secrets } from '../store/secrets.ts';
import { signJwtWithPair, signJwt, checkClaims, verifyJwt, type Claims, type VerifiedJwt } from './jwt.ts';
import { KeyPairs, type KeyPair, type PublicJwk } from './key-pairs.ts';
import { hashToken } from './code-hash.ts';

/** Role of an API key. */
export type KeyRole = 'anon' | 'service_role';

const tenYearsSeconds = 10 * 365 * 86_400;
const maxVerifiedTokens = 2000;
const secretName = 'jwt';
/** Opaque keys, which can be replaced separately. */
const opaqueKinds = { anon: 'publishable', service_role: 'secret' } as const;

type KeySettings = Pick<Settings, 'jwtSecret' | 'anonKey' | 'serviceKey' | 'jwtExpiry'>;

/** Current and earlier key pairs for the tokens of users. */
export interface Signing {
  /** Undefined when the secret signs. */
  readonly pair: KeyPair | undefined;
  readonly earlier: readonly KeyPair[];
}

/** Signing keys, and the API keys of the two roles. */
export class Keys {
  readonly #context: Context;
  readonly #settings: KeySettings;
  readonly #pairs: KeyPairs;
  readonly #secrets: Secrets;
  readonly #cachedRows: CachedRows;
  /**
   * Claims of recently verified tokens, by token hash. A change of the keys replaces the map, so that a verification
   * that is still running does not add a token of the former keys.
   */
  #verifiedTokens = new Map<string, Claims>();
  #secret = '';
  #anon = '';
  #service = '';
  readonly #opaque: Record<KeyRole, string> = { anon: '', service_role: '' };

  constructor(context: Context, settings: KeySettings) {
    this.#context = context;
    this.#settings = settings;
    this.#secrets = new Secrets(context);
    this.#pairs = new KeyPairs(this.#secrets, context.clock);
    const { bus, log } = context;
    this.#cachedRows = new CachedRows({ bus, log, rows: 'data.keys', reload: () => this.open() });
  }

  /** Follows the changes of other hosts until it is disposed. */
  follow(): Disposable {
    return this.#cachedRows.follow();
  }

  /** Reads or creates the keys. Until then no key is accepted. */
  async open(): Promise<void> {
    const { jwtSecret } = this.#settings;
    await this.#use(
      jwtSecret === '' ? await this.#secrets.getOrCreate(secretName, () => this.#context.random.text(48)) : jwtSecret,
    );
    await this.#pairs.open();
    for (const role of ['anon', 'service_role'] as const) {
      this.#opaque[role] = await this.#secrets.getOrCreate(opaqueKinds[role], () => this.#createOpaqueKey(role));
    }
  }

  /** Opaque API keys, `sb_publishable_…` and `sb_secret_…`. */
  get opaque(): Readonly<Record<KeyRole, string>> {
    return this.#opaque;
  }

  /** Replaces an opaque key; tokens and other keys remain valid. */
  async rotateOpaque(role: KeyRole): Promise<void> {
    const key = this.#createOpaqueKey(role);
    await this.#secrets.replace(opaqueKinds[role], key);
    this.#opaque[role] = key;
    this.#cachedRows.changed();
  }

  get anonKey(): string {
    return this.#anon;
  }

  get serviceKey(): string {
    return this.#service;
  }

  /** True unless the settings contain the JWT secret. */
  get canRotate(): boolean {
    return this.#settings.jwtSecret === '';
  }

  /** A new secret and new keys, and a new pair where one signs; every token and key of before counts no more. */
  async rotate(): Promise<void> {
    const secret = this.#context.random.text(48);
    if (this.#pairs.current !== undefined) await this.#pairs.create(this.#context.clock.now());
    await this.#pairs.endEarlier();
    await this.#secrets.replace(secretName, secret);
    await this.#use(secret);
    this.#cachedRows.changed();
  }

  get signing(): Signing {
    return { pair: this.#pairs.current, earlier: this.#pairs.earlier };
  }

  /** Public keys that verify tokens. */
  get published(): readonly PublicJwk[] {
    return this.#pairs.published;
  }

  /** Changes the signing key to a new pair or to the secret. Existing sessions remain valid. */
  async signWith(kind: 'pair' | 'secret'): Promise<void> {
    const endsAt = this.#context.clock.now() + this.#settings.jwtExpiry * 1000;
    await (kind === 'pair' ? this.#pairs.create(endsAt) : this.#pairs.retire(endsAt));
    this.#cachedRows.changed();
  }

  /** Rejects tokens of earlier pairs from now on. */
  async endEarlier(): Promise<void> {
    await this.#pairs.endEarlier();
    this.#verifiedTokens = new Map();
    this.#cachedRows.changed();
  }

  /** Returns the hash of a six-digit code that was sent to an address. It is valid until the secret changes. */
  hashCode(address: string, code: string): string {
    return hashToken(`one-time codes ${this.#secret}`, address, code);
  }

  async sign(claims: Claims): Promise<string> {
    const pair = this.#pairs.current;
    return await (pair === undefined
      ? signJwt(claims, this.#secret)
      : signJwtWithPair(claims, pair.kid, pair.privateKey));
  }

  async verify(token: string): Promise<VerifiedJwt> {
    const now = Math.floor(this.#context.clock.now() / 1000);
    const hash = createHash('sha256').update(token).digest('base64');
    const verifiedTokens = this.#verifiedTokens;
    const cachedClaims = verifiedTokens.get(hash);
    if (cachedClaims !== undefined) {
      const refusal = checkClaims(cachedClaims, now);
      return refusal === undefined ? { claims: cachedClaims } : { refusal };
    }
    const trustedKeys = { secret: this.#secret, publicKey: (kid: string) => this.#pairs.publicKey(kid) };
    const verified = await verifyJwt(token, trustedKeys, now);
    if ('claims' in verified) {
      verifiedTokens.set(hash, verified.claims);
      const [oldest] = verifiedTokens.keys();
      if (verifiedTokens.size > maxVerifiedTokens && oldest !== undefined) verifiedTokens.delete(oldest);
    }
    return verified;
  }

  /** Returns the role of an API key; undefined for an invalid key. */
  async getRole(key: string): Promise<KeyRole | undefined> {
    if (key === '') return undefined;
    if (key === this.#anon || key === this.#opaque.anon) return 'anon';
    if (key === this.#service || key === this.#opaque.service_role) return 'service_role';
    const verified = await this.verify(key);
    if (!('claims' in verified) || verified.claims['sub'] !== undefined) return undefined;
    const { role } = verified.claims;
    return role === 'anon' || role === 'service_role' ? role : undefined;
  }

  #createOpaqueKey(role: KeyRole): string {
    return `sb_${opaqueKinds[role]}_${this.#context.random.text(32)}`;
  }

  async #use(secret: string): Promise<void> {
    const { anonKey, serviceKey } = this.#settings;
    // A fixed time, so that one secret always results in the same pair of API keys.
    const iat = 1_735_689_600;
    const createKey = async (role: KeyRole): Promise<string> =>
      await signJwt({ iss: 'supabase', role, iat, exp: iat + tenYearsSeconds }, secret);
    const anon = anonKey === '' ? await createKey('anon') : anonKey;
    const service = serviceKey === '' ? await createKey('service_role') : serviceKey;
    this.#secret = secret;
    this.#verifiedTokens = new Map();
    this.#anon = anon;
    this.#service = service;
  }
}
