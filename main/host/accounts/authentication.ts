import * as m from '#messages/account-problems';
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
import { LruMap } from '../../../services/kit/lru-map.ts';
import { identify, type Directory, type Member } from './directory.ts';
import type { Passwords } from './passwords.ts';
import type { ProvenPasswords } from './permissions.ts';
import { buildSecondFactorRequiredProblem, type RequiredSecondFactor } from './required-second-factor.ts';
import { fingerprint, isSessionShaped } from './secrets.ts';
import type { SessionLimit } from './session-limit.ts';
import type { SessionLinks } from './session-links.ts';
import type { Attempt, SignInThrottle } from './sign-in-throttle.ts';
import { getSource } from './source.ts';
import type { LastUsed } from './last-used.ts';

/** Time in ms for which a right password is accepted again without hashing it. */
const cacheMs = 60_000;
/** Time in ms for which a right password bypasses the throttle for its source, while it is the account's password. */
const throttleBypassMs = 12 * 60 * 60_000;

interface Proof {
  /** The account at that time: after any change the password is hashed again. */
  readonly member: Member;
  readonly identity: Identity;
  readonly at: number;
}

/** Origin of a request. */
type Client = Pick<Credentials, 'remoteAddress' | 'isCrossSite'>;

/** Verification of passwords, with a memory of those that were proven. */
export interface PasswordCheck {
  readonly passwords: Passwords;
  /** Replaces a hash of another program or of a lower cost and returns the new one; undefined on failure. */
  readonly renew: (name: string, password: string, foreign: string) => Promise<string | undefined>;
  readonly proven: ProvenPasswords;
}

/** Rules that decide whether a session or a link is accepted. */
export interface SessionRules {
  readonly links: SessionLinks;
  readonly limit: SessionLimit;
  readonly required: RequiredSecondFactor;
  /** Returns whether the credentials of an identity are still valid. */
  readonly isValid: (identity: Identity) => boolean;
}

/** Records and slows down failed attempts. */
export interface SignInAttempts {
  readonly throttle: SignInThrottle;
  readonly failures: Counter | undefined;
  readonly security: SecurityLog;
}

export interface AuthenticationDependencies {
  readonly directory: Directory;
  readonly passwordCheck: PasswordCheck;
  readonly uses: LastUsed;
  readonly attempts: SignInAttempts;
  readonly sessionRules: SessionRules;
  readonly clock: Clock;
  readonly random: Random;
}

/** Determines the identity behind a request. */
export class Authentication {
  readonly #parts: AuthenticationDependencies;
  /** Key under which passwords are cached; never leaves the process. */
  readonly #key: Uint8Array;
  readonly #proofs = new LruMap<string, Proof>(2000);
  /**
   * Wrong passwords with the account at that time: the same one again, as of a program with an old password, does not
   * count as another guess.
   */
  readonly #wrong = new LruMap<string, { readonly passwordHash: string | null }>(2000);
  /** Running checks by proof, so that concurrent requests of a client cost one hash. */
  readonly #checks = new Map<string, Promise<Proof | undefined>>();

  constructor(parts: AuthenticationDependencies) {
    this.#parts = parts;
    this.#key = parts.random.bytes(32);
  }

  readonly authenticate: Accounts['authenticate'] = async (credentials) => {
    try {
      const identity = await this.#authenticate(credentials);
      if (identity !== undefined) this.#parts.attempts.security.identified(identity.account);
      return identity;
    } catch (error) {
      if (error instanceof Problem) this.#parts.attempts.failures?.inc({ reason: error.code.replace('accounts.', '') });
      throw error;
    }
  };

  /**
   * Authenticates a name and password.
   * @throws Problem `accounts.bad_credentials`, `accounts.too_many_attempts`, `accounts.busy`
   */
  async password(name: string, password: string, client: Client): Promise<Identity> {
    return this.#reporting(name, client, async () => {
      const source = getSource(client);
      if (!AccountName.safeParse(name).success || password === '' || password.length > 1024) {
        this.#parts.attempts.throttle.failInvalidToken(source);
        throw buildBadCredentialsProblem();
      }
      const proof = await this.#verifyCredentials(name, password, source);
      if (proof === undefined) throw buildBadCredentialsProblem();
      return proof.identity;
    });
  }

  /** Records a sign-in that fails or is throttled. */
  async #reporting<T>(account: string | undefined, client: Client, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const event = error instanceof Problem ? failureEvents.get(error.code) : undefined;
      if (event !== undefined)
        this.#parts.attempts.security.record({ event, account: account ?? '-', address: client.remoteAddress });
      throw error;
    }
  }

  async #authenticate({
    authorization,
    session,
    link,
    gatewayIdentity: proven,
    forEnrollment = false,
    ...client
  }: Credentials): Promise<Identity | undefined> {
    const claim = readAuthorization(authorization);
    switch (claim.kind) {
      case 'password':
        return this.#used(this.#withoutFactor(await this.password(claim.name, claim.password, client), client), client);
      case 'token':
        return this.#used(
          await this.#reporting(claim.name, client, () => this.#token(claim.text, claim.name, client)),
          client,
        );
      case 'malformed':
        return this.#reporting(undefined, client, async () => {
          this.#parts.attempts.throttle.failInvalidToken(getSource(client));
          throw buildBadCredentialsProblem();
        });
      case 'none':
        return (
          (await this.#session(session, forEnrollment)) ??
          (link && this.#parts.sessionRules.links.open(link)) ??
          this.#stillProven(proven)
        );
    }
  }

  async #token(text: string, name: string | undefined, client: Client): Promise<Identity> {
    const token = await this.#parts.directory.token(fingerprint(text), this.#parts.clock.now());
    const account = token?.member.account;
    if (token === undefined || account?.enabled !== true || (name !== undefined && name !== account.name)) {
      this.#parts.attempts.throttle.failInvalidToken(getSource(client));
      throw buildBadCredentialsProblem();
    }
    this.#parts.uses.tokenUsed(token, client.remoteAddress);
    return token.identity;
  }

  /**
   * @throws Problem `accounts.token_needed` (401) when the password is only the first of two factors,
   * `accounts.second_factor_required` (401) when the second one must be enrolled first
   */
  #withoutFactor(identity: Identity, { remoteAddress: address }: Client): Identity {
    const { account } = identity;
    const member = this.#parts.directory.member(account);
    if (member !== undefined && this.#parts.sessionRules.required.isMissing(member)) {
      const event = 'second_factor_required';
      this.#parts.attempts.security.record({ event, account, address, by: account, detail: 'password' });
      throw buildSecondFactorRequiredProblem(401);
    }
    if (member?.hasSecondFactor !== true) return identity;
    const detail = m.passwordNotEnough();
    throw new Problem('accounts.token_needed', 401, detail);
  }

  /** Records the first use of a password or a token from an address. */
  #used(identity: Identity, { remoteAddress }: Client): Identity {
    const { account, via, credentialId = '' } = identity;
    this.#parts.attempts.security.recordUse(
      { account, address: remoteAddress, by: account, detail: via },
      `${via} ${credentialId}`,
    );
    return identity;
  }

  #stillProven(identity: Identity | undefined): Identity | undefined {
    return identity !== undefined && this.#parts.sessionRules.isValid(identity) ? identity : undefined;
  }

  /** An expired session returns no identity instead of an error, which would prevent access to the sign-in page. */
  async #session(secret: string | undefined, forEnrollment: boolean): Promise<Identity | undefined> {
    if (secret === undefined || !isSessionShaped(secret)) return undefined;
    const session = await this.#parts.directory.session(fingerprint(secret), this.#parts.clock.now());
    if (session?.member.account.enabled !== true) return undefined;
    if (this.#parts.sessionRules.limit.isOver(session.row, this.#parts.clock.now())) return undefined;
    const isLimited = this.#parts.sessionRules.required.limits(session.member, session.row);
    if (isLimited && !forEnrollment) return undefined;
    this.#parts.uses.sessionUsed(session);
    return isLimited ? Object.freeze({ ...session.identity, needsEnrollment: true as const }) : session.identity;
  }

  async #verifyCredentials(name: string, password: string, source: string): Promise<Proof | undefined> {
    // Includes the source: a verified password must not help guesses from another address.
    const key = createHmac('sha256', this.#key).update(`${source}\0${name}\0${password}`).digest('base64');
    const attempt: Attempt = { source, name };
    const cached = this.#proofs.get(key);
    const member = this.#parts.directory.member(name);
    const passwordHash = member?.passwordHash ?? null;
    const age =
      cached !== undefined &&
      cached.member.passwordHash === passwordHash &&
      this.#parts.attempts.throttle.trusts(attempt)
        ? this.#parts.clock.now() - cached.at
        : Infinity;
    if (age < cacheMs && cached?.member === member) return cached;
    const underWay = this.#checks.get(key);
    if (underWay !== undefined) return underWay;
    const isWrong = this.#wrong.get(key);
    if (isWrong !== undefined && isWrong.passwordHash === passwordHash) return undefined;
    const check =
      age < throttleBypassMs ? this.#check(name, password, key) : this.#checkInTurn(name, password, key, attempt);
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

  /** Counts one wrong guess for all callers that wait for this check. */
  async #checkInTurn(name: string, password: string, key: string, attempt: Attempt): Promise<Proof | undefined> {
    using turn = await this.#parts.attempts.throttle.begin(attempt);
    const proof = await this.#check(name, password, key);
    if (proof === undefined) turn.fail();
    else turn.succeed();
    return proof;
  }

  async #check(name: string, password: string, key: string): Promise<Proof | undefined> {
    const before = this.#parts.directory.member(name);
    const passwordHash = before?.passwordHash ?? null;
    const isRight = await this.#parts.passwordCheck.passwords.verify(password, passwordHash);
    if (!isRight) this.#wrong.set(key, { passwordHash });
    else if (passwordHash !== null && this.#parts.passwordCheck.passwords.isOutdated(passwordHash))
      return this.#renewed(name, password, passwordHash);
    // The account may have changed, or have been disabled or removed, while the hash was computed.
    const member = this.#parts.directory.member(name);
    if (!isRight || member === undefined || !member.account.enabled || member.passwordHash !== passwordHash) {
      return undefined;
    }
    return this.#proof(member);
  }

  /** Replaces the stored hash after a successful sign-in by one of Homeport's own format. */
  async #renewed(name: string, password: string, foreign: string): Promise<Proof | undefined> {
    const renewed = await this.#parts.passwordCheck.renew(name, password, foreign);
    const member = this.#parts.directory.member(name);
    // A failed write does not reject the sign-in; another password in the meantime does.
    const isSamePassword = [foreign, renewed].includes(member?.passwordHash ?? '');
    return isSamePassword && member?.account.enabled === true ? this.#proof(member) : undefined;
  }

  #proof(member: Member): Proof {
    const identity = identify(member.account, 'password');
    if (member.passwordHash !== null) this.#parts.passwordCheck.proven.set(identity, member.passwordHash);
    return { member, identity, at: this.#parts.clock.now() };
  }
}

const failureEvents: ReadonlyMap<string, 'sign_in_failed' | 'sign_in_blocked'> = new Map([
  ['accounts.bad_credentials', 'sign_in_failed'],
  ['accounts.too_many_attempts', 'sign_in_blocked'],
]);

function buildBadCredentialsProblem(): Problem {
  return new Problem('accounts.bad_credentials', 401, m.wrongCredentials());
}
