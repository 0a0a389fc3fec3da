import { createHmac } from 'node:crypto';
import {
  AccountName,
  type Accounts,
  type Credentials,
  type Identity,
} from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Counter, Random } from '../../../services/contracts/service.ts';
import { SignInThrottle, type Attempt } from './sign-in-throttle.ts';
import { readAuthorization } from './authorization-header.ts';
import { BoundedMap } from './bounded-map.ts';
import { identify, type Directory, type Member } from './directory.ts';
import { isForeignHash, type Passwords } from './passwords.ts';
import type { ProvenPasswords } from './permissions.ts';
import { fingerprint } from './secrets.ts';
import { readSessionCookies } from './session-cookie.ts';
import type { LastUsed } from './last-used.ts';

/** A right password is believed again for so long without hashing it. */
const believed = 60_000;

interface Proof {
  /** The account as it was; once it has changed in any way the proof is void. */
  readonly member: Member;
  readonly identity: Identity;
  readonly until: number;
}

export interface AuthenticationParts {
  readonly directory: Directory;
  readonly passwords: Passwords;
  /** Puts a hash of our own, which it answers, in place of one that another program made; undefined when it cannot. */
  readonly renew: (name: string, password: string, foreign: string) => Promise<string | undefined>;
  readonly uses: LastUsed;
  readonly proven: ProvenPasswords;
  readonly clock: Clock;
  readonly random: Random;
  readonly failures: Counter | undefined;
}

/** Finds out who a request comes from. */
export class Authentication {
  readonly #parts: AuthenticationParts;
  readonly #attempts: SignInThrottle;
  /** Passwords are remembered under a key that dies with the process. */
  readonly #key: Uint8Array;
  readonly #proofs = new BoundedMap<string, Proof>(2000);
  /** Checks under way by proof, so that a busy client's requests at one time cost one hash. */
  readonly #checks = new Map<string, Promise<Proof | undefined>>();

  constructor(parts: AuthenticationParts) {
    this.#parts = parts;
    this.#attempts = new SignInThrottle(parts.clock);
    this.#key = parts.random.bytes(32);
  }

  readonly authenticate: Accounts['authenticate'] = async (credentials) => {
    try {
      return await this.#authenticate(credentials);
    } catch (error) {
      if (error instanceof Problem) this.#parts.failures?.inc({ reason: error.code.replace('accounts.', '') });
      throw error;
    }
  };

  /**
   * The account of this name and password.
   * @throws Problem `accounts.bad_credentials`, `accounts.too_many_attempts`, `accounts.busy`
   */
  async password(name: string, password: string, address: string): Promise<Identity> {
    const valid = AccountName.safeParse(name).success;
    const attempt: Attempt = { address, name: valid ? name : undefined };
    this.#attempts.check(attempt);
    if (!valid || password === '' || password.length > 1024) {
      this.#attempts.fail(attempt);
      throw badCredentials();
    }
    const proof = await this.#prove(name, password, attempt);
    if (proof === undefined) throw badCredentials();
    this.#attempts.succeed(attempt);
    return proof.identity;
  }

  async #authenticate({ authorization, cookie, remoteAddress }: Credentials): Promise<Identity | undefined> {
    const claim = readAuthorization(authorization);
    switch (claim.kind) {
      case 'password':
        return this.password(claim.name, claim.password, remoteAddress);
      case 'token':
        return this.#token(claim.text, claim.name, remoteAddress);
      case 'malformed':
        this.#attempts.failToken(remoteAddress);
        throw badCredentials();
      case 'none':
        return this.#session(cookie);
    }
  }

  async #token(text: string, name: string | undefined, address: string): Promise<Identity> {
    const token = await this.#parts.directory.token(fingerprint(text), this.#parts.clock.now());
    const account = token?.member.account;
    if (token === undefined || account?.enabled !== true || (name !== undefined && name !== account.name)) {
      this.#attempts.failToken(address);
      throw badCredentials();
    }
    this.#parts.uses.tokenUsed(token, address);
    return token.identity;
  }

  /** A cookie that has run out makes nobody of its bearer rather than an error: he could not even reach the sign-in page. */
  async #session(cookie: string | undefined): Promise<Identity | undefined> {
    for (const value of readSessionCookies(cookie)) {
      const session = await this.#parts.directory.session(fingerprint(value), this.#parts.clock.now());
      if (session?.member.account.enabled !== true) continue;
      this.#parts.uses.sessionUsed(session);
      return session.identity;
    }
    return undefined;
  }

  async #prove(name: string, password: string, attempt: Attempt): Promise<Proof | undefined> {
    const key = createHmac('sha256', this.#key).update(`${name}\0${password}`).digest('base64');
    const known = this.#proofs.get(key);
    if (
      known !== undefined &&
      known.until > this.#parts.clock.now() &&
      this.#parts.directory.member(name) === known.member
    ) {
      return known;
    }
    const underWay = this.#checks.get(key);
    if (underWay !== undefined) return underWay;
    const check = this.#check(name, password, attempt);
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

  async #check(name: string, password: string, attempt: Attempt): Promise<Proof | undefined> {
    using _counted = this.#attempts.begin(attempt);
    const before = this.#parts.directory.member(name);
    const passwordHash = before?.passwordHash ?? null;
    const right = await this.#parts.passwords.verify(password, passwordHash);
    if (right && passwordHash !== null && isForeignHash(passwordHash)) {
      return this.#renewed(name, password, passwordHash, attempt);
    }
    // The account may have been changed, disabled or removed while the hash was made.
    const member = this.#parts.directory.member(name);
    if (!right || member === undefined || !member.account.enabled || member.passwordHash !== passwordHash) {
      // Counted once for all who wait for this check: the same password again is no other guess.
      this.#attempts.fail(attempt);
      return undefined;
    }
    return this.#proof(member);
  }

  /** The password is right, and from now on it is known by a hash of our own. */
  async #renewed(name: string, password: string, foreign: string, attempt: Attempt): Promise<Proof | undefined> {
    const renewed = await this.#parts.renew(name, password, foreign);
    const member = this.#parts.directory.member(name);
    // Where nothing could be stored it still counts; when another password came in between, it does not.
    const same = [foreign, renewed].includes(member?.passwordHash ?? '');
    if (same && member?.account.enabled === true) return this.#proof(member);
    this.#attempts.fail(attempt);
    return undefined;
  }

  #proof(member: Member): Proof {
    const identity = identify(member.account, 'password');
    if (member.passwordHash !== null) this.#parts.proven.set(identity, member.passwordHash);
    return { member, identity, until: this.#parts.clock.now() + believed };
  }
}

function badCredentials(): Problem {
  return new Problem('accounts.bad_credentials', 401, 'The name, password or token is not right.');
}
