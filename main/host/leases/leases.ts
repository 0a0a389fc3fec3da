import type { Kysely } from 'kysely';
import { LeaseLostError, type LeaseCandidacy, type Leases } from '../../../services/contracts/leases.ts';
import type { Context, Log } from '../../../services/contracts/service.ts';
import { RepeatingTask } from '../../../services/kit/repeating-task.ts';
import { SerialQueue } from '../../../services/kit/serial-queue.ts';
import { systemTimer } from '../../../services/kit/system-timer.ts';
import type { ConnectionLimits, PostgresLocation } from '../database/postgres.ts';
import { isGone, leaseOwner } from '../jobs/owner.ts';
import { Candidacy, disposeWork } from './candidacy.ts';
import { deleteOldLeases, findHeldLeases, leaseMs, lockLease, releaseLease, renewLeases, takeLeases } from './table.ts';

/** Interval in which leases are renewed, and free ones are taken. */
const renewEveryMs = 2000;
/** Interval in which the host checks that its leases were renewed in time. */
const checkEveryMs = 250;

/**
 * Leases have connections of their own, so that they are renewed while the queries of services wait. A connection that
 * does not respond is replaced in time for another attempt before the leases expire.
 */
const limits: ConnectionLimits = { connections: 2, statementMs: 1500, responseMs: 1700 };

/** Leases of the services of a host. */
export interface HostLeases extends AsyncDisposable {
  /** `commit` is the group commit of the service. */
  forService(id: string, commit: Context['commit']): Leases;
}

export interface HostLeasesOptions {
  /** PostgreSQL schema with `leasesMigrations`, or undefined when no other host uses the database. */
  readonly shared: PostgresLocation | undefined;
  /** Unique name of this host among those in one process. */
  readonly host: string;
  readonly log: Log;
}

/** Opens the leases of a host: permanent ones, or ones that it shares with other hosts on PostgreSQL. */
export async function openLeases(options: HostLeasesOptions): Promise<HostLeases> {
  const { host, log, shared } = options;
  if (shared === undefined) return openPermanentLeases(host);
  // Loaded on demand, since most installations use no server.
  const { connectToSchema } = await import('../database/postgres.ts');
  const db = connectToSchema({ ...shared, limits }, log);
  try {
    return await SharedLeases.open({ db, schema: shared.schema, host, log });
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/** Opens the leases of a host that shares its tables with no other: always held, without rows and timers. */
function openPermanentLeases(hostId: string): HostLeases {
  return {
    forService: (_id, commit) => ({
      hostId,
      findEnded: async (ids) => new Set(ids.filter((id) => id !== hostId)),
      async hold(_name, work) {
        const controller = new AbortController();
        const lease = { token: 0, signal: controller.signal, verify: async () => undefined, commit };
        const running = await work(lease);
        return {
          lease,
          async [Symbol.asyncDispose]() {
            await disposeWork(running);
            controller.abort();
          },
        };
      },
    }),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Prefix of the leases with which hosts show that they run. */
const hostsPrefix = 'hosts/';

interface SharedLeasesOptions extends Pick<HostLeasesOptions, 'host' | 'log'> {
  readonly db: Kysely<any>;
  readonly schema: string;
}

/**
 * Leases in a table that several hosts share. All renewals of a host are one statement. They use timers of the system,
 * since the host's clock can be wrong.
 */
class SharedLeases implements HostLeases {
  readonly #db: Kysely<any>;
  readonly #schema: string;
  readonly #hostId: string;
  readonly #owner: string;
  readonly #log: Log;
  readonly #candidacies = new Map<string, Candidacy>();
  /** Serializes attempts to get leases, so that none is taken twice. */
  readonly #attempts = new SerialQueue();
  #timers: AsyncDisposableStack | undefined;

  private constructor({ db, schema, host, log }: SharedLeasesOptions) {
    this.#db = db;
    this.#schema = schema;
    this.#hostId = host;
    this.#owner = leaseOwner(host);
    this.#log = log;
  }

  /** Opens the leases, and the one with which the host shows that it runs. */
  static async open(options: SharedLeasesOptions): Promise<SharedLeases> {
    const leases = new SharedLeases(options);
    await deleteOldLeases(options.db, hostsPrefix);
    const commit: Context['commit'] = (work) => options.db.transaction().execute(work);
    await leases.#hold(`${hostsPrefix}${options.host}`, () => ({ [Symbol.dispose]: () => undefined }), commit);
    return leases;
  }

  forService(id: string, commit: Context['commit']): Leases {
    return {
      hostId: this.#hostId,
      findEnded: (ids) => this.#findEnded(ids),
      hold: (name, work) => this.#hold(`${id}/${name}`, work, commit),
    };
  }

  async #findEnded(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const others = ids.filter((id) => id !== this.#hostId);
    if (others.length === 0) return new Set();
    const running = await findHeldLeases(
      this.#db,
      others.map((id) => `${hostsPrefix}${id}`),
      isGone,
    );
    return new Set(others.filter((id) => !running.has(`${hostsPrefix}${id}`)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const candidacy of this.#candidacies.values()) await candidacy[Symbol.asyncDispose]();
    await this.#timers?.disposeAsync();
    await this.#db.destroy();
  }

  async #hold(name: string, work: Parameters<Leases['hold']>[1], commit: Context['commit']): Promise<LeaseCandidacy> {
    if (this.#candidacies.has(name)) throw new Error(`two kinds of work have the lease ${name}`);
    const candidacy: Candidacy = new Candidacy({
      name,
      work,
      log: this.#log,
      createLease: (token, signal) => {
        const verify = async (transaction: Kysely<any>): Promise<void> => {
          if (!(await lockLease(transaction, this.#schema, { name, token }, this.#owner))) {
            candidacy.checkLoss(performance.now(), false);
            throw new LeaseLostError(name);
          }
        };
        return {
          token,
          signal,
          verify,
          commit: (task) =>
            commit(async (transaction) => {
              await verify(transaction);
              return task(transaction);
            }),
        };
      },
      release: (token) => releaseLease(this.#db, { name, token }, this.#owner),
      onEnd: () => void this.#candidacies.delete(name),
    });
    this.#candidacies.set(name, candidacy);
    this.#startTimers();
    try {
      for (const started of await this.#take([candidacy])) await started;
    } catch (error) {
      await candidacy[Symbol.asyncDispose]();
      throw error;
    }
    return candidacy;
  }

  #startTimers(): void {
    if (this.#timers !== undefined) return;
    const timers = new AsyncDisposableStack();
    const onError = (error: unknown): void => this.#log.warn('lease renewal failed', { error });
    timers.use(new RepeatingTask(() => this.#beat(), { clock: systemTimer, intervalMs: renewEveryMs, onError }));
    timers.use(
      systemTimer.every(checkEveryMs, () => {
        for (const candidacy of this.#candidacies.values()) candidacy.checkLoss(performance.now());
      }),
    );
    this.#timers = timers;
  }

  /** Renews the leases of this host, and takes those that other hosts no longer renew. */
  async #beat(): Promise<void> {
    const all = [...this.#candidacies.values()];
    if (all.some(({ lease }) => lease !== undefined)) await this.#renew(all);
    for (const started of await this.#take(all)) {
      started.catch((error: unknown) => this.#log.error('leased work start failed', { error }));
    }
  }

  async #renew(all: readonly Candidacy[]): Promise<void> {
    const current = new Map(
      all.flatMap((each) => (each.lease === undefined ? [] : [[each, each.lease.token] as const])),
    );
    // The database renews later than this, so that the host never believes longer than others that it has the lease.
    const validUntil = performance.now() + leaseMs;
    const names = [...current.keys()].map(({ name }) => name);
    const rows = await renewLeases(this.#db, names, this.#owner);
    const tokens = new Map(rows.map(({ name, token }) => [name, token]));
    for (const [candidacy, token] of current) {
      if (tokens.get(candidacy.name) === token) candidacy.extend(token, validUntil);
      else if (candidacy.lease?.token === token) candidacy.checkLoss(performance.now(), false);
    }
  }

  /** Takes the free leases of waiting candidacies, and returns the starts of their work. */
  #take(all: readonly Candidacy[]): Promise<readonly Promise<void>[]> {
    return this.#attempts.run(async () => {
      const waiting = all.filter(({ wantsLease }) => wantsLease);
      if (waiting.length === 0) return [];
      const validUntil = performance.now() + leaseMs;
      const names = waiting.map(({ name }) => name);
      const rows = await takeLeases(this.#db, names, this.#owner, isGone);
      const tokens = new Map(rows.map(({ name, token }) => [name, token]));
      return waiting.flatMap((candidacy) => {
        const token = tokens.get(candidacy.name);
        return token === undefined ? [] : [candidacy.acquire(token, validUntil)];
      });
    });
  }
}
