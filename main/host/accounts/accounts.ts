import {
  accountsChanged,
  everyone,
  type Accounts,
  type Identity,
} from '../../../services/contracts/control/accounts.ts';
import { eventsMissed, type Bus } from '../../../services/contracts/bus.ts';
import type { Clock, Context, Log, Random, ServiceManifest, Vault } from '../../../services/contracts/service.ts';
import type { Metrics } from '../../../services/contracts/metrics.ts';
import type { SecurityLog } from '../log/security-log.ts';
import { accessTokens } from './tokens.ts';
import { accountList } from './account-list.ts';
import { Authentication } from './authentication.ts';
import { Changes } from './changes.ts';
import { declaredAccounts, type DeclaredAccounts } from './declared.ts';
import { Directory } from './directory.ts';
import { firstRun, type FirstRun } from './first-run.ts';
import { findCollisions, nameReservations } from './names.ts';
import { OneTimeLinkStore } from './one-time-links.ts';
import { Passkeys } from './passkeys.ts';
import { Passwords } from './passwords.ts';
import { ProviderAccounts } from './provider-accounts.ts';
import { refuseWeakPassword } from './password-rules.ts';
import { Permissions } from './permissions.ts';
import { portableAccounts, type Portable } from './portable.ts';
import { AccountReleases } from './releases.ts';
import { renewHash } from './renewal.ts';
import { insertPresetAccounts, getPresetAccounts } from './service-accounts.ts';
import { RequiredSecondFactor, type SecondFactorPolicy } from './required-second-factor.ts';
import { SecondFactorStore } from './second-factors.ts';
import { serviceSecrets } from './service-secrets.ts';
import { browserSessions, type Sessions } from './sessions.ts';
import { SessionLimit } from './session-limit.ts';
import { SessionLinks } from './session-links.ts';
import { shareThrottle } from './shared-throttle.ts';
import { deleteExpired, hasAccount, nextRevision, type Db } from './store.ts';
import { LastUsed } from './last-used.ts';
import { SingleFlight } from '../../../services/kit/single-flight.ts';

/** Interval in ms at which changes by other hosts are detected in case their events were missed. */
const pollIntervalMs = 30_000;
const cleanUp = 60 * 60 * 1000;

/** Log, security log and metrics of the accounts. */
interface AccountsObservation {
  readonly log: Log;
  readonly security: SecurityLog;
  readonly metrics?: Metrics;
}

/** Rules for passwords and sessions. */
export interface AccountsPolicy {
  /** Setting: maximum lifetime of a session in days; default 90. */
  readonly sessionDays?: () => number;
  /** Setting: accounts that must have a second factor; default none. */
  readonly requireSecondFactor?: () => SecondFactorPolicy;
  /** log2 of scrypt's N for new passwords; default 17: about 128 MiB and 0.3 s per hash. */
  readonly passwordCost?: number;
  /** See {@link Context.inHostLanguage}; default: the current language. */
  readonly inHostLanguage?: Context['inHostLanguage'];
}

export interface AccountsOptions {
  /** Database with {@link accountsMigrations} applied. */
  readonly database: { readonly kysely: Context['db']; readonly commit: Context['commit'] };
  /** Manifests that declare accounts. */
  readonly services: readonly Pick<ServiceManifest, 'id' | 'accounts'>[];
  readonly vault: Vault;
  readonly clock: Clock;
  readonly random: Random;
  readonly bus: Bus;
  readonly observation: AccountsObservation;
  readonly policy?: AccountsPolicy;
}

/** Accounts with the functions of the host in addition to those of services. */
export interface HostAccounts extends Accounts, Sessions, Portable, DeclaredAccounts, AsyncDisposable {
  readonly firstRun: FirstRun;
  readonly releases: AccountReleases;
  /** Accounts of users of OpenID providers. */
  readonly providerAccounts: Pick<ProviderAccounts, 'resolve'>;
  /** Groups of account names and reserved names that differ only in case, detected at the start. */
  readonly collisions: readonly (readonly string[])[];
}

/** Opens the accounts; the first start creates the predefined service accounts, disabled. */
export async function openAccounts(options: AccountsOptions): Promise<HostAccounts> {
  const { vault, clock, random, bus, policy = {} } = options;
  const { log, security, metrics } = options.observation;
  const { commit } = options.database;
  const kysely: Db = options.database.kysely;
  const { inHostLanguage = async <T>(work: () => T | Promise<T>) => await work() } = policy;
  await inHostLanguage(() => insertMissingPresets(options));
  const collisions = await reportCollisions(kysely, log);

  const directory = new Directory(kysely);
  await directory.synchronize();
  const changes = new Changes(commit, directory, bus, log);
  const passwords = new Passwords(policy.passwordCost ?? 17);
  const proven = new WeakMap<Identity, string>();
  const policies = createPolicies(policy);
  const permissions = new Permissions({ directory, clock, proven, ...policies });
  const open = new AsyncDisposableStack();
  const removal = open.use(new ExpiryRemoval(changes, directory, clock, log));
  const uses = open.use(new LastUsed(commit, clock, log, policies.limit));
  open.use(followChanges(changes, removal, { bus, clock, log }));

  const throttle = open.use(shareThrottle(directory, { bus, clock }));
  const links = new SessionLinks({ directory, vault, clock, ...policies });
  const passwordCheck = { passwords, renew: renewHash({ changes, passwords, log }), proven };
  const attempts = { throttle, failures: countFailures(metrics), security };
  const sessionRules = { links, isValid: permissions.isStillValid, ...policies };
  const shared = { directory, clock, random };
  const authentication = new Authentication({ ...shared, passwordCheck, uses, attempts, sessionRules });
  const secrets = serviceSecrets({ throttle, random, security });
  const passkeys = new Passkeys({ kysely, changes, clock, security });
  const common = { ...shared, changes, security };
  const { checkSecret } = secrets;
  const owners = { directory, changes, checkSecret };
  const factors = new SecondFactorStore({ accounts: owners, passkeys, clock, random, security, kysely, vault });
  const oneTimeLinks = new OneTimeLinkStore({ ...common, kysely, passwords, throttle });
  const signIn = { authentication, proven, secondFactors: { passkeys, checkSecret, factors } };
  const releases = new AccountReleases({ kysely, commit, services: options.services.map(({ id }) => id), random, log });
  return {
    authenticate: authentication.authenticate,
    may: permissions.may,
    isStillValid: permissions.isStillValid,
    link: links.make,
    ...secrets,
    ...accountList({ directory, changes, passwords, clock, releases, security }),
    ...accessTokens(common),
    ...browserSessions({ ...common, signIn, policy: policies }),
    ...portableAccounts({ directory, changes, clock, vault, releases }),
    ...declaredAccounts({ changes, clock, random, log, releases }),
    firstRun: firstRun({ ...common, kysely, passwords, releases }),
    ...nameReservations({ changes }),
    record: (event) => security.record(event),
    oneTimeLinks,
    providerAccounts: new ProviderAccounts({ ...common, kysely, passwords }),
    refuseWeakPassword,
    releases,
    collisions,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Creates the rules of sessions that follow the settings. */
function createPolicies({ sessionDays = () => 90, requireSecondFactor = () => 'off' }: AccountsPolicy) {
  return { limit: new SessionLimit(sessionDays), required: new RequiredSecondFactor(requireSecondFactor) };
}

/** Creates the predefined service accounts at the first start. */
async function insertMissingPresets({ database, services, clock }: AccountsOptions): Promise<void> {
  await database.commit(async (db: Db) => {
    await nextRevision(db);
    if (!(await hasAccount(db, everyone))) await insertPresetAccounts(db, getPresetAccounts(services), clock.now());
  });
}

/** Finds groups of names that differ only in case, and logs them. */
async function reportCollisions(kysely: Db, log: Log): Promise<readonly (readonly string[])[]> {
  const collisions = await findCollisions(kysely);
  for (const names of collisions) log.warn('account names differ only in case', { names });
  return collisions;
}

function countFailures(metrics: Metrics | undefined): ReturnType<Metrics['counter']> | undefined {
  return metrics?.counter({
    name: 'accounts_authentication_failures_total',
    help: 'Requests whose credentials were refused.',
    labels: ['reason'],
    initial: [{ reason: 'bad_credentials' }, { reason: 'too_many_attempts' }, { reason: 'busy' }],
  });
}

/** Removes expired tokens and sessions; disposal waits for a running removal. */
class ExpiryRemoval implements AsyncDisposable {
  readonly #changes: Changes;
  readonly #directory: Directory;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #removal = new SingleFlight(() => this.#remove());

  constructor(changes: Changes, directory: Directory, clock: Clock, log: Log) {
    this.#changes = changes;
    this.#directory = directory;
    this.#clock = clock;
    this.#log = log;
  }

  start(): void {
    void this.#removal.run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#removal.settled();
    await this.#directory.settled();
  }

  async #remove(): Promise<void> {
    try {
      await this.#changes.create([], async (db, alsoChanged) =>
        (await deleteExpired(db, this.#clock.now())).forEach(alsoChanged),
      );
    } catch (error) {
      this.#log.warn('expired tokens and sessions could not be removed', { error });
    }
  }
}

/** Loads changes of other hosts, and removes what has expired. */
function followChanges(
  changes: Changes,
  removal: ExpiryRemoval,
  { bus, clock, log }: Pick<AccountsOptions, 'bus' | 'clock'> & Pick<AccountsObservation, 'log'>,
): Disposable {
  const synchronize = (): void => {
    changes.synchronize().catch((error: unknown) => log.warn('accounts reload failed', { error }));
  };
  const subscriptions = new DisposableStack();
  subscriptions.use(changes.followOtherHosts());
  subscriptions.use(bus.subscribe(accountsChanged, synchronize));
  subscriptions.use(bus.subscribe(eventsMissed, synchronize));
  subscriptions.use(clock.every(pollIntervalMs, synchronize));
  subscriptions.use(clock.every(cleanUp, () => removal.start()));
  return subscriptions;
}
