import { createHmac } from 'node:crypto';
import {
  AccountName,
  type Accounts,
  type Credentials,
  type Identity,
} from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Random } from '../../../services/contracts/service.ts';
import type { Counter } from '../../../services/contracts/metrics.ts';
import type { SecurityLog } from '../log/security-log.ts';
import { readAuthorization } from './authorization-header.ts';
import { BoundedMap } from '../runtime/bounded-map.ts';
import { identify, type Directory, type Member } from './directory.ts';
import type { Passwords } from './passwords.ts';
import type { ProvenPasswords } from './permissions.ts';
import { fingerprint, isSessionShaped } from './secrets.ts';
import type { SessionLimit } from './session-limit.ts';
import type { SessionLinks } from './session-links.ts';
import type { Attempt, SignInThrottle } from './sign-in-throttle.ts';
import { sourceOf } from './source.ts';
import type { LastUsed } from './last-used.ts';

/** A right password is believed again for so long without hashing it. */
const believed = 60_000;
/** And for so long it passes the brake, from where it came and while it is the account's password. */
const proven = 12 * 60 * 60_000;

interface Proof {
  /** The account as it was: once it has changed in any way the password is hashed again. */
  readonly member: Member;
  readonly identity: Identity;
  readonly at: number;
}

/** Where a request comes from. */
type Client = Pick<Credentials, 'remoteAddress' | 'isCrossSite'>;

export interface AuthenticationParts {
  readonly directory: Directory;
  readonly passwords: Passwords;
  /** Replaces a hash of another program or of a lower cost and returns the new one; undefined when it cannot. */
  readonly renew: (name: string, password: string, foreign: string) => Promise<string | undefined>;
  readonly uses: LastUsed;
  readonly proven: ProvenPasswords;
  readonly throttle: SignInThrottle;
  readonly links: SessionLinks;
  readonly limit: SessionLimit;
  /** Whether what an identity was proven with still holds. */
  readonly stands: (identity: Identity) => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly failures: Counter | undefined;
  readonly security: SecurityLog;
}

/** Finds out who a request comes from. */
export class Authentication {
  readonly #parts: AuthenticationParts;
  /** Passwords are remembered under a key that dies with the process. */
  readonly #key: Uint8Array;
  readonly #proofs = new BoundedMap<string, Proof>(2000);
  /** Passwords that were wrong, with the account as it was: the same one again, as of a program that has an old one, is no other guess. */
  readonly #wrong = new BoundedMap<string, { readonly passwordHash: string | null }>(2000);
  /** Checks under way by proof, so that a busy client's requests at one time cost one hash. */
  readonly #checks = new Map<string, Promise<Proof | undefined>>();

  constructor(parts: AuthenticationParts) {
    this.#parts = parts;
    this.#key = parts.random.bytes(32);
  }

  readonly authenticate: Accounts['authenticate'] = async (credentials) => {
    try {
      const identity = await this.#authenticate(credentials);
      if (identity !== undefined) this.#parts.security.identified(identity.account);
      return identity;
    } catch (error) {
      if (error instanceof Problem) this.#parts.failures?.inc({ reason: error.code.replace('accounts.', '') });
      throw error;
    }
  };

  /**
   * The account of this name and password.
   * @throws Problem `accounts.bad_credentials`, `accounts.too_many_attempts`, `accounts.busy`
   */
  async password(name: string, password: string, client: Client): Promise<Identity> {
    return this.#reporting(name, client, async () => {
      const source = sourceOf(client);
      if (!AccountName.safeParse(name).success || password === '' || password.length > 1024) {
        this.#parts.throttle.failHopeless(source);
        throw badCredentials();
      }
      const proof = await this.#prove(name, password, source);
      if (proof === undefined) throw badCredentials();
      return proof.identity;
    });
  }

  /** Records a sign-in that fails or is refused by the throttle. */
  async #reporting<T>(account: string | undefined, client: Client, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const event = error instanceof Problem ? failureEvents.get(error.code) : undefined;
      if (event !== undefined)
        this.#parts.security.record({ event, account: account ?? '-', address: client.remoteAddress });
      throw error;
    }
  }

  async #authenticate({
    authorization,
    session,
    link,
    gatewayIdentity: proven,
    ...client
  }: Credentials): Promise<Identity | undefined> {
    const claim = readAuthorization(authorization);
    switch (claim.kind) {
      case 'password':
        return this.#used(this.#withoutFactor(await this.password(claim.name, claim.password, client)), client);
      case 'token':
        return this.#used(
          await this.#reporting(claim.name, client, () => this.#token(claim.text, claim.name, client)),
          client,
        );
      case 'malformed':
        return this.#reporting(undefined, client, async () => {
          this.#parts.throttle.failHopeless(sourceOf(client));
          throw badCredentials();
        });
      case 'none':
        return (await this.#session(session)) ?? (link && this.#parts.links.open(link)) ?? this.#stillProven(proven);
    }
  }

  async #token(text: string, name: string | undefined, client: Client): Promise<Identity> {
    const token = await this.#parts.directory.token(fingerprint(text), this.#parts.clock.now());
    const account = token?.member.account;
    if (token === undefined || account?.enabled !== true || (name !== undefined && name !== account.name)) {
      this.#parts.throttle.failHopeless(sourceOf(client));
      throw badCredentials();
    }
    this.#parts.uses.tokenUsed(token, client.remoteAddress);
    return token.identity;
  }

  /** @throws Problem `accounts.token_needed` (401) where the password is only the first of two factors */
  #withoutFactor(identity: Identity): Identity {
    if (this.#parts.directory.member(identity.account)?.hasSecondFactor !== true) return identity;
    const detail = 'This account has a second factor, so its programs use access tokens in place of the password.';
    throw new Problem('accounts.token_needed', 401, detail);
  }

  /** Records the first use of a password or a token from an address. */
  #used(identity: Identity, { remoteAddress }: Client): Identity {
    const { account, via, credentialId = '' } = identity;
    this.#parts.security.recordUse(
      { account, address: remoteAddress, by: account, detail: via },
      `${via} ${credentialId}`,
    );
    return identity;
  }

  #stillProven(identity: Identity | undefined): Identity | undefined {
    return identity !== undefined && this.#parts.stands(identity) ? identity : undefined;
  }

  /** A session that has run out makes nobody of its bearer rather than an error: he could not even reach the sign-in page. */
  async #session(secret: string | undefined): Promise<Identity | undefined> {
    if (secret === undefined || !isSessionShaped(secret)) return undefined;
    const session = await this.#parts.directory.session(fingerprint(secret), this.#parts.clock.now());
    if (session?.member.account.enabled !== true) return undefined;
    if (this.#parts.limit.isOver(session.row, this.#parts.clock.now())) return undefined;
    this.#parts.uses.sessionUsed(session);
    return session.identity;
  }

  async #prove(name: string, password: string, source: string): Promise<Proof | undefined> {
    // The source is part of it: what was proven in one place must not help to guess in another.
    const key = createHmac('sha256', this.#key).update(`${source}\0${name}\0${password}`).digest('base64');
    const attempt: Attempt = { source, name };
    const known = this.#proofs.get(key);
    const member = this.#parts.directory.member(name);
    const passwordHash = member?.passwordHash ?? null;
    const age =
      known !== undefined && known.member.passwordHash === passwordHash && this.#parts.throttle.trusts(attempt)
        ? this.#parts.clock.now() - known.at
        : Infinity;
    if (age < believed && known?.member === member) return known;
    const underWay = this.#checks.get(key);
    if (underWay !== undefined) return underWay;
    const wrong = this.#wrong.get(key);
    if (wrong !== undefined && wrong.passwordHash === passwordHash) return undefined;
    const check = age < proven ? this.#check(name, password, key) : this.#checkInTurn(name, password, key, attempt);
    this.#checks.set(key, check);
    try {
      const proof = await check;
      if (proof === undefined) this.#proofs.delete(key);
      else this.#proofs.set(key, proof);
      return proof;
    } finally {
      this.#checks.delete(key);
    }
  }

  /** One wrong guess for all who wait for this check. */
  async #checkInTurn(name: string, password: string, key: string, attempt: Attempt): Promise<Proof | undefined> {
    using turn = await this.#parts.throttle.begin(attempt);
    const proof = await this.#check(name, password, key);
    if (proof === undefined) turn.fail();
    else turn.succeed();
    return proof;
  }

  async #check(name: string, password: string, key: string): Promise<Proof | undefined> {
    const before = this.#parts.directory.member(name);
    const passwordHash = before?.passwordHash ?? null;
    const right = await this.#parts.passwords.verify(password, passwordHash);
    if (!right) this.#wrong.set(key, { passwordHash });
    else if (passwordHash !== null && this.#parts.passwords.isOutdated(passwordHash))
      return this.#renewed(name, password, passwordHash);
    // The account may have been changed, disabled or removed while the hash was made.
    const member = this.#parts.directory.member(name);
    if (!right || member === undefined || !member.account.enabled || member.passwordHash !== passwordHash) {
      return undefined;
    }
    return this.#proof(member);
  }

  /** The password is right, and from now on it is known by a hash of our own. */
  async #renewed(name: string, password: string, foreign: string): Promise<Proof | undefined> {
    const renewed = await this.#parts.renew(name, password, foreign);
    const member = this.#parts.directory.member(name);
    // Where nothing could be stored it still counts; when another password came in between, it does not.
    const same = [foreign, renewed].includes(member?.passwordHash ?? '');
    return same && member?.account.enabled === true ? this.#proof(member) : undefined;
  }

  #proof(member: Member): Proof {
    const identity = identify(member.account, 'password');
    if (member.passwordHash !== null) this.#parts.proven.set(identity, member.passwordHash);
    return { member, identity, at: this.#parts.clock.now() };
  }
}

const failureEvents: ReadonlyMap<string, 'sign_in_failed' | 'sign_in_blocked'> = new Map([
  ['accounts.bad_credentials', 'sign_in_failed'],
  ['accounts.too_many_attempts', 'sign_in_blocked'],
]);

function badCredentials(): Problem {
  return new Problem('accounts.bad_credentials', 401, 'The name, password or token is not right.');
}
