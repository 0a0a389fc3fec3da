import { hostname } from 'node:os';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { z } from 'zod';
import { HostProblem, type HostEntry, type HostList } from '../../../services/contracts/control/hosts.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';
import type { Metrics } from '../../../services/contracts/metrics.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import type { HostsTables } from './hosts-table.ts';

/** Interval of the reports of a host. */
const reportEveryMs = 3000;
/** A host is listed as offline when it has not reported for this time. */
const offlineAfterMs = 15_000;
/** Hosts that have not reported for this time are deleted from the list. */
const deleteAfterMs = 24 * 60 * 60 * 1000;

/** Times by the clock of the database, since those of several computers differ. */
const now: RawBuilder<number> = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

interface HostDirectoryOptions {
  readonly database: { readonly kysely: Kysely<any>; readonly dialect: 'sqlite' | 'postgres' };
  readonly id: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly isDraining: () => boolean;
  /** Returns the services of this host that do not work. */
  readonly getProblems: () => Promise<readonly HostProblem[]>;
}

/** List of the hosts that share a PostgreSQL database. Each one reports periodically that it is running. */
export class HostDirectory implements AsyncDisposable {
  readonly #options: HostDirectoryOptions;
  readonly #db: Kysely<HostsTables>;
  readonly #startedAt: number;
  #timer: Disposable | undefined;
  #reporting: Promise<void> = Promise.resolve();
  #isPending = false;

  constructor(options: HostDirectoryOptions) {
    this.#options = options;
    this.#db = options.database.kysely as Kysely<HostsTables>;
    this.#startedAt = options.clock.now();
    options.metrics
      .gauge({ name: 'homeport_host_info', help: 'Id and computer of the host.', labels: ['host', 'computer'] })
      .set(1, { host: options.id, computer: hostname() });
  }

  get #isShared(): boolean {
    return this.#options.database.dialect === 'postgres';
  }

  /** Reports this host, now and periodically. */
  async start(): Promise<void> {
    if (!this.#isShared) return;
    await this.#db
      .deleteFrom('hosts')
      .where('seen_at', '<', sql<number>`${now} - ${sql.lit(deleteAfterMs)}`)
      .execute();
    await this.#insert();
    this.#timer = this.#options.clock.every(reportEveryMs, () => this.report());
  }

  /** Reports the current state of this host; a report that is already running is followed by another one. */
  report(): void {
    if (this.#timer === undefined || this.#isPending) return;
    this.#isPending = true;
    this.#reporting = this.#reporting.then(async () => {
      this.#isPending = false;
      await this.#update();
    });
  }

  /** Lists the hosts in the order of their names. */
  async list(): Promise<HostList> {
    if (!this.#isShared) return { isShared: false, hosts: [await this.#describeThis()] };
    const rows = await this.#db
      .selectFrom('hosts')
      .selectAll()
      .select(now.as('now'))
      .orderBy('name')
      .orderBy('id')
      .execute();
    const hosts = rows.map((row): HostEntry => ({
      id: row.id,
      name: row.name,
      version: row.version,
      state: row.now - row.seen_at > offlineAfterMs ? 'offline' : row.draining === 1 ? 'draining' : 'running',
      startedAt: row.started_at,
      seenAt: row.seen_at,
      problems: parseProblems(row.problems),
      isCurrent: row.id === this.#options.id,
    }));
    return { isShared: true, hosts };
  }

  /** Removes this host from the list. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer === undefined) return;
    this.#timer[Symbol.dispose]();
    this.#timer = undefined;
    await this.#reporting;
    try {
      await this.#db.deleteFrom('hosts').where('id', '=', this.#options.id).execute();
    } catch (error) {
      this.#options.log.warn('host removal from list failed', { error });
    }
  }

  async #describeThis(): Promise<HostEntry> {
    const { id, version, clock, getProblems, isDraining } = this.#options;
    return {
      id,
      name: hostname(),
      version,
      state: isDraining() ? 'draining' : 'running',
      startedAt: this.#startedAt,
      seenAt: clock.now(),
      problems: [...(await getProblems())],
      isCurrent: true,
    };
  }

  async #describeState() {
    const { getProblems, isDraining } = this.#options;
    return { seen_at: now, draining: Number(isDraining()), problems: JSON.stringify(await getProblems()) };
  }

  async #insert(): Promise<void> {
    const { id, version } = this.#options;
    const row = { name: hostname(), version, ...(await this.#describeState()) };
    await this.#db
      .insertInto('hosts')
      .values({ id, started_at: now, ...row })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ started_at: now, ...row }))
      .execute();
  }

  async #update(): Promise<void> {
    const { id, log } = this.#options;
    try {
      const { numUpdatedRows } = await this.#db
        .updateTable('hosts')
        .set(await this.#describeState())
        .where('id', '=', id)
        .executeTakeFirst();
      // Another host has deleted the row while this one could not reach the database.
      if (numUpdatedRows === 0n) await this.#insert();
    } catch (error) {
      log.warn('host report failed', { error });
    }
  }
}

/** Reads the problems of a row. A newer version may store them in another form. */
function parseProblems(text: string): HostProblem[] {
  const result = z.array(HostProblem).safeParse(parseJson(text));
  return result.success ? result.data : [];
}
