import * as m from '#messages/account-problems';
import type { Accounts } from '../../../services/contracts/control/accounts.ts';
import { SecondFactorNeeded, type SecondFactors } from '../../../services/contracts/control/second-factor.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Random } from '../../../services/contracts/service.ts';
import type { SecurityLog } from '../log/security-log.ts';
import { getExistingAccount } from './account-list.ts';
import type { Authentication } from './authentication.ts';
import type { Changes } from './changes.ts';
import { identify, type Directory } from './directory.ts';
import type { ProvenPasswords } from './permissions.ts';
import { buildSecondFactorRequiredProblem, type RequiredSecondFactor } from './required-second-factor.ts';
import { fingerprint, generateSessionSecret } from './secrets.ts';
import type { SessionLimit } from './session-limit.ts';
import { SecondStep, type SecondStepDependencies } from './second-step.ts';
import { deleteOldest } from './store.ts';
import type { SessionRow } from './tables.ts';

/** Maximum number of sessions per account; a new one replaces the oldest. */
const maxSessions = 100;

/** Signed-in browser. Times are ms since the epoch. */
export interface Session {
  readonly id: string;
  readonly account: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
  /** Remote address of the sign-in. */
  readonly address: string;
  readonly userAgent: string;
  /** Opened with the password of the account, not by a provider or the desktop window. */
  readonly byPassword: boolean;
}

export interface Sessions extends Pick<Accounts, 'signIn' | 'signOut' | 'factors'> {
  /**
   * Signs in the user who started the app on this computer, without a password: that user can read the data folder as
   * well. Undefined when there is not exactly one administrator.
   */
  signInHere(client: Client): Promise<{ readonly secret: string; end(): Promise<void> } | undefined>;
  /**
   * Opens a session for an account that was authenticated elsewhere; `byPassword` false exempts it from the required
   * second factor.
   * @throws Problem `accounts.unknown` (404), `accounts.bad_credentials` (401)
   */
  openSession(account: string, client: SessionOrigin): Promise<OpenedSession>;
  /** @throws Problem `accounts.unknown` (404). */
  sessions(account: string): Promise<readonly Session[]>;
  /** @throws Problem `accounts.unknown_session` (404). */
  endSession(account: string, id: string): Promise<void>;
  /** Ends all sessions of an account and returns their number. @throws Problem `accounts.unknown` (404). */
  endSessions(account: string): Promise<number>;
}

type Client = Parameters<SecondFactors['complete']>[2];

/** Client of a new session. */
interface SessionOrigin extends Client {
  readonly byPassword: boolean;
}
type OpenedSession = Awaited<ReturnType<Accounts['signIn']>>;

/** Both steps of a sign-in. */
export interface SignInSteps {
  readonly authentication: Authentication;
  readonly proven: ProvenPasswords;
  readonly secondFactors: Pick<SecondStepDependencies, 'factors' | 'passkeys' | 'checkSecret'>;
}

/** Settings for sessions. */
export interface SessionPolicy {
  readonly limit: SessionLimit;
  readonly required: RequiredSecondFactor;
}

export interface SessionDependencies {
  readonly signIn: SignInSteps;
  readonly directory: Directory;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly random: Random;
  readonly security: SecurityLog;
  readonly policy: SessionPolicy;
}

function secondFactors(
  { factors, passkeys }: SessionDependencies['signIn']['secondFactors'],
  step: SecondStep,
): SecondFactors {
  const { isOn, status, begin, confirm, renewRecoveryCodes, disable, reset, adopt } = factors;
  return {
    isOn,
    status,
    begin,
    confirm,
    renewRecoveryCodes,
    disable,
    reset,
    adopt,
    async beginPasskey(account, origin) {
      if (!isOn(account)) {
        const detail = m.authenticatorNeeded();
        throw new Problem('accounts.no_second_factor', 409, detail);
      }
      return passkeys.begin(account, origin);
    },
    addPasskey: (account, label, response, origin) => passkeys.add(account, label, response, origin),
    removePasskey: (account, id) => passkeys.remove(account, id),
    passkeyOptions: step.passkeyOptions,
    complete: step.complete,
  };
}

export function browserSessions(parts: SessionDependencies): Sessions {
  const { directory, changes, clock, random, security } = parts;
  const { authentication, proven } = parts.signIn;
  const { limit } = parts.policy;
  const begin = (account: string, client: Client, provenHash?: string): Promise<OpenedSession> =>
    beginSession(account, { ...client, byPassword: true }, provenHash, parts);
  const secondStep = new SecondStep({ ...parts.signIn.secondFactors, clock, random, open: begin });

  return {
    factors: secondFactors(parts.signIn.secondFactors, secondStep),

    async signIn(name, password, client) {
      const proof = await authentication.password(name, password, client);
      const needsEnrollment = checkRequiredFactor(parts, proof.account, client);
      if (directory.member(proof.account)?.hasSecondFactor === true) {
        throw new SecondFactorNeeded(proof.account, secondStep.begin(proof.account, proven.get(proof)));
      }
      const { identity, secret } = await begin(proof.account, client, proven.get(proof));
      return { identity: needsEnrollment ? { ...identity, needsEnrollment } : identity, secret };
    },

    signInHere: (client) => signInOnlyAdministrator(client, parts),

    async openSession(account, client) {
      return beginSession(getExistingAccount(directory, account).name, client, undefined, parts);
    },

    async signOut({ via, account, credentialId }) {
      if (via !== 'session' || credentialId === undefined) return;
      if (await deleteSession(changes, account, credentialId)) security.record({ event: 'sign_out', account });
    },

    async sessions(account) {
      getExistingAccount(directory, account);
      const all = [...(directory.member(account)?.sessions.values() ?? [])].map(({ row }) => row);
      return all.filter((row) => !limit.isOver(row, clock.now())).map((row) => toSession(row, limit));
    },

    async endSession(account, id) {
      if (!(await deleteSession(changes, account, id)))
        throw new Problem('accounts.unknown_session', 404, m.sessionNotFound());
      security.record({ event: 'session_ended', account });
    },

    async endSessions(account) {
      getExistingAccount(directory, account);
      const ended = await changes.create([account], (db) =>
        db.deleteFrom('sessions').where('account', '=', account).returning('id').execute(),
      );
      if (ended.length > 0) security.record({ event: 'session_ended', account, detail: 'all sessions' });
      return ended.length;
    },
  };
}

/**
 * Returns whether a sign-in with the right password may only enrol the required second factor.
 * @throws Problem `accounts.second_factor_required` (403) unless the caller lets accounts enrol
 */
function checkRequiredFactor(
  { directory, policy: { required }, security }: Pick<SessionDependencies, 'directory' | 'policy' | 'security'>,
  account: string,
  { forEnrollment = false, remoteAddress: address }: Parameters<Accounts['signIn']>[2],
): boolean {
  const member = directory.member(account);
  if (member === undefined || !required.isMissing(member)) return false;
  const detail = forEnrollment ? 'session' : 'password';
  security.record({ event: 'second_factor_required', account, address, by: account, detail });
  if (!forEnrollment) throw buildSecondFactorRequiredProblem(403);
  return true;
}

/** Signs in without a password if there is exactly one administrator. */
async function signInOnlyAdministrator(client: Client, parts: SessionDependencies): ReturnType<Sessions['signInHere']> {
  const { directory, changes } = parts;
  const administrators = directory
    .members()
    .filter(({ account: { kind, role, enabled } }) => kind === 'person' && role === 'admin' && enabled);
  const [only] = administrators;
  if (only === undefined || administrators.length > 1) return undefined;
  const { name } = only.account;
  const { identity, secret } = await beginSession(name, { ...client, byPassword: false }, undefined, parts);
  return { secret, end: async () => void (await deleteSession(changes, name, identity.credentialId ?? '')) };
}

/** Deletes a session and returns whether it existed. */
function deleteSession(changes: Changes, account: string, id: string): Promise<boolean> {
  return changes.create([account], async (db) => {
    const ended = await db
      .deleteFrom('sessions')
      .where('account', '=', account)
      .where('id', '=', id)
      .returning('id')
      .execute();
    return ended.length > 0;
  });
}

/**
 * Begins a session.
 * @param provenHash Hash of the verified password, which must still be the account's.
 */
async function beginSession(
  account: string,
  client: SessionOrigin,
  provenHash: string | undefined,
  { directory, changes, clock, random, security, policy: { limit } }: SessionDependencies,
): Promise<OpenedSession> {
  const secret = generateSessionSecret(random);
  const now = clock.now();
  const row: SessionRow = {
    id: random.text(16),
    hash: fingerprint(secret),
    account,
    created_at: now,
    expires_at: limit.expiry(now, now),
    used_at: now,
    address: client.remoteAddress.slice(0, 64),
    user_agent: client.userAgent.slice(0, 256).replaceAll(/\p{Cc}/gu, ' '),
    by_password: client.byPassword ? 1 : 0,
  };
  await changes.create([account], async (db) => {
    // The account may have been disabled, or its password changed, since the verification.
    const currentAccount = await db
      .selectFrom('accounts')
      .select('password_hash')
      .where('name', '=', account)
      .where('enabled', '=', 1)
      .executeTakeFirst();
    if (currentAccount === undefined || (provenHash !== undefined && currentAccount.password_hash !== provenHash)) {
      throw new Problem('accounts.bad_credentials', 401, m.accountChanged());
    }
    await deleteOldest(db, 'sessions', account, maxSessions);
    await db.insertInto('sessions').values(row).execute();
  });
  security.record({ event: 'sign_in', account, address: client.remoteAddress, by: account, detail: 'session' });
  return { identity: identify(getExistingAccount(directory, account), 'session', row.id), secret };
}

function toSession(row: SessionRow, limit: SessionLimit): Session {
  return {
    id: row.id,
    account: row.account,
    createdAt: row.created_at,
    lastUsedAt: row.used_at,
    expiresAt: limit.end(row),
    address: row.address,
    userAgent: row.user_agent,
    byPassword: row.by_password === 1,
  };
}
