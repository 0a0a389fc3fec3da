import * as m from '#messages/account-problems';
import { isIP } from 'node:net';
import type * as webAuthn from '@simplewebauthn/server';
import type { Passkey, PasskeyResponse } from '../../../services/contracts/control/second-factor.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import type { SecurityLog } from '../log/security-log.ts';
import { LruMap } from '../../../services/kit/lru-map.ts';
import type { Changes } from './changes.ts';
import type { Db } from './store.ts';
import type { PasskeyRow } from './tables.ts';

const maxPasskeys = 20;
const challengeMs = 5 * 60_000;

export interface PasskeyDependencies {
  readonly kysely: Db;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly security: SecurityLog;
}

/** Passkeys (WebAuthn) as a second factor, each for the relying party of the page on which it was created. */
export class Passkeys {
  readonly #parts: PasskeyDependencies;
  /** Challenges of registrations by account. */
  readonly #challenges = new LruMap<string, { readonly challenge: string; readonly until: number }>(1000);

  constructor(parts: PasskeyDependencies) {
    this.#parts = parts;
  }

  async list(account: string): Promise<readonly Passkey[]> {
    return (await this.#rows(account)).map(toPasskey);
  }

  /** @throws Problem `accounts.passkey_host` (422), `accounts.too_many_passkeys` (409) */
  async begin(account: string, origin: string): Promise<Record<string, unknown>> {
    const host = getRelyingParty(origin);
    const passkeys = await this.#rows(account);
    if (passkeys.length >= maxPasskeys) {
      throw new Problem('accounts.too_many_passkeys', 409, m.tooManyPasskeys({ max: String(maxPasskeys) }));
    }
    const { generateRegistrationOptions } = await loadWebAuthn();
    const options = await generateRegistrationOptions({
      rpName: 'Homeport',
      rpID: host,
      userName: account,
      attestationType: 'none',
      excludeCredentials: passkeys.filter((row) => row.host === host).map(({ id }) => ({ id })),
      authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
    });
    this.#challenges.set(account, { challenge: options.challenge, until: this.#parts.clock.now() + challengeMs });
    return { ...options };
  }

  /** @throws Problem `accounts.bad_passkey` (422) */
  async add(account: string, label: string, response: PasskeyResponse, origin: string): Promise<Passkey> {
    const { changes, clock, security } = this.#parts;
    const pending = this.#challenges.get(account);
    if (pending === undefined || pending.until <= clock.now()) throw buildBadPasskeyProblem();
    this.#challenges.set(account, { ...pending, until: 0 });
    const host = getRelyingParty(origin);
    const { verifyRegistrationResponse } = await loadWebAuthn();
    const verified = await verifyRegistrationResponse({
      response: response as unknown as webAuthn.RegistrationResponseJSON,
      expectedChallenge: pending.challenge,
      expectedOrigin: origin,
      expectedRPID: host,
      requireUserVerification: false,
    }).catch((cause: unknown) => {
      throw buildBadPasskeyProblem(cause);
    });
    if (!verified.verified) throw buildBadPasskeyProblem();
    const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
    const row: PasskeyRow = {
      id,
      account,
      label: label.replaceAll(/\p{Cc}/gu, ' ').trim() || m.passkey(),
      host,
      public_key: Buffer.from(publicKey).toString('base64url'),
      counter,
      transports: JSON.stringify(transports),
      created_at: clock.now(),
      last_used_at: null,
    };
    await changes.create([], (db) => db.insertInto('passkeys').values(row).execute());
    security.record({ event: 'passkey_added', account, detail: `${row.label} for ${host}` });
    return toPasskey(row);
  }

  /** @throws Problem `accounts.unknown_passkey` (404) */
  async remove(account: string, id: string): Promise<void> {
    const removed = await this.#parts.changes.create([], (db) =>
      db.deleteFrom('passkeys').where('account', '=', account).where('id', '=', id).returning('label').execute(),
    );
    const [passkey] = removed;
    if (passkey === undefined) throw new Problem('accounts.unknown_passkey', 404, m.passkeyNotFound());
    this.#parts.security.record({ event: 'passkey_removed', account, detail: passkey.label });
  }

  /** Returns the options for the passkeys of this page's host; undefined when the account has none there. */
  async authenticationOptions(account: string, origin: string) {
    const host = toRelyingParty(origin);
    const passkeys = (await this.#rows(account)).filter((row) => row.host === host);
    if (passkeys.length === 0) return undefined;
    const { generateAuthenticationOptions } = await loadWebAuthn();
    return generateAuthenticationOptions({
      rpID: host,
      allowCredentials: passkeys.map(({ id }) => ({ id })),
      userVerification: 'preferred',
    });
  }

  /** Returns whether the response proves one of the account's passkeys for this challenge and this page. */
  async check(account: string, challenge: string, response: PasskeyResponse, origin: string): Promise<boolean> {
    const host = toRelyingParty(origin);
    const row = (await this.#rows(account)).find(({ id, host: own }) => id === response.id && own === host);
    if (row === undefined) return false;
    const { verifyAuthenticationResponse } = await loadWebAuthn();
    const verified = await verifyAuthenticationResponse({
      response: response as unknown as webAuthn.AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: host,
      credential: { id: row.id, publicKey: Buffer.from(row.public_key, 'base64url'), counter: Number(row.counter) },
      requireUserVerification: false,
    }).catch(() => undefined);
    if (verified?.verified !== true) return false;
    const used = { counter: verified.authenticationInfo.newCounter, last_used_at: this.#parts.clock.now() };
    await this.#parts.changes.create([], (db) =>
      db.updateTable('passkeys').set(used).where('id', '=', row.id).where('account', '=', account).execute(),
    );
    return true;
  }

  #rows(account: string): Promise<PasskeyRow[]> {
    return this.#parts.kysely
      .selectFrom('passkeys')
      .selectAll()
      .where('account', '=', account)
      .orderBy('created_at')
      .execute();
  }
}

/** Loads the library with the first passkey, since it brings its own X.509 and CBOR parsers. */
function loadWebAuthn(): Promise<typeof webAuthn> {
  return import('@simplewebauthn/server');
}

/**
 * Returns the relying party of a page. The gateway has a name for each service below its own (`photos.nas.local`), and a
 * passkey is valid at all of them; every other host name is a separate relying party.
 */
function toRelyingParty(origin: string): string {
  const host = URL.parse(origin)?.hostname ?? '';
  return /[^.]+\.local$/.exec(host)?.[0] ?? host;
}

/** @throws Problem `accounts.passkey_host` (422): browsers create passkeys for names only */
function getRelyingParty(origin: string): string {
  const host = toRelyingParty(origin);
  if (host !== '' && isIP(host.replace(/^\[|\]$/g, '')) === 0) return host;
  const detail = m.passkeyNeedsName();
  throw new Problem('accounts.passkey_host', 422, detail);
}

function buildBadPasskeyProblem(cause?: unknown): Problem {
  const detail = m.passkeyNotVerified();
  return new Problem('accounts.bad_passkey', 422, detail, cause === undefined ? {} : { cause });
}

function toPasskey({ id, label, host, created_at, last_used_at }: PasskeyRow): Passkey {
  const lastUsedAt = last_used_at === null ? null : Number(last_used_at);
  return { id, label, host, createdAt: Number(created_at), lastUsedAt };
}
