import { sql, type Kysely } from 'kysely';
import type { NotifyHealth } from '../../contracts/notify/api.ts';
import type { Context, Migration } from '../../contracts/service.ts';
import type { NotifyTables } from './tables.ts';
import { SerialQueue } from '../../kit/serial-queue.ts';

/**
 * Table with the last result of each destination. A query over the deliveries needed an index by destination, which
 * cost a quarter of the time of a notification to many destinations. Other queries use partial indexes.
 */
export const destinationHealth: Migration = {
  name: '021-create-destination-health',
  async up(db: Kysely<any>) {
    await db.schema
      .createTable('destination_health')
      .addColumn('destination_id', 'text', (column) => column.primaryKey())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('detail', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addColumn('succeeded_at', 'bigint')
      .execute();
    await sql`insert into destination_health (destination_id, state, detail, updated_at, succeeded_at)
      select last.destination_id, last.state, last.detail, last.updated_at, latest.succeeded_at from deliveries as last
      inner join (select destination_id, max(updated_at) as at,
        max(case when state = 'done' then updated_at end) as succeeded_at from deliveries group by destination_id) as latest
      on latest.destination_id = last.destination_id and latest.at = last.updated_at
      where true on conflict (destination_id) do nothing`.execute(db);
    await sql`drop index deliveries_by_destination`.execute(db);
    await sql`drop index deliveries_by_state`.execute(db);
    await db.schema.alterTable('deliveries').addColumn('rated_at', 'bigint').execute();
    await sql`create index deliveries_waiting on deliveries (notice_id) where state = 'waiting'`.execute(db);
    await sql`create index deliveries_by_digest on deliveries (destination_id, digest)
      where digest is not null`.execute(db);
    await sql`create index deliveries_by_rate on deliveries (destination_id, rated_at)
      where rated_at is not null`.execute(db);
  },
};

/** Column for the code of a destination's last failure; empty for none. */
export const destinationHealthCodes: Migration = {
  name: '023-add-destination-health-codes',
  async up(db: Kysely<any>) {
    await db.schema
      .alterTable('destination_health')
      .addColumn('code', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  },
};

/** Results are collected for this time before they are written. */
const writeDelayMs = 1000;
/** Maximum number of rows in one statement: SQLite binds 32,766 values, a row has five. */
const batchSize = 1000;

/**
 * Stores the health of destinations. Results are collected and written together; a crash may lose those of the last
 * second, which remain in the history.
 */
export class HealthStore implements AsyncDisposable {
  readonly #context: Pick<Context, 'clock' | 'commit' | 'db' | 'log'>;
  #pending = new Map<string, NotifyHealth>();
  /** Results that are being written. */
  #beingWritten: ReadonlyMap<string, NotifyHealth> = new Map();
  #timer: Disposable | undefined;
  readonly #writes = new SerialQueue();
  #closed = false;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'log'>) {
    this.#context = context;
  }

  /** Records a result. After the disposal, results are only recorded in the history. */
  record(destinationId: string, state: NotifyHealth['state'], detail: string, code: NotifyHealth['code'] = ''): void {
    if (this.#closed) return;
    const time = this.#context.clock.now();
    const lastSuccess = state === 'done' ? time : (this.#pending.get(destinationId)?.lastSuccess ?? null);
    this.#pending.set(destinationId, { state, detail, code, time, lastSuccess });
    this.#timer ??= this.#context.clock.after(writeDelayMs, () => void this.#save());
  }

  /** Returns the health by ID; destinations without deliveries are omitted. */
  async findAll(ids: readonly string[]): Promise<ReadonlyMap<string, NotifyHealth>> {
    const health = new Map<string, NotifyHealth>();
    // Copied before the table is read: results written in the meantime are in one of the two.
    const unsaved = [this.#beingWritten, this.#pending];
    const db: Kysely<NotifyTables> = this.#context.db;
    for (let start = 0; start < ids.length; start += batchSize) {
      const batch = ids.slice(start, start + batchSize);
      const rows = await db.selectFrom('destination_health').selectAll().where('destination_id', 'in', batch).execute();
      for (const { destination_id, state, detail, code, updated_at, succeeded_at } of rows) {
        const lastSuccess = succeeded_at === null ? null : Number(succeeded_at);
        health.set(destination_id, { state, detail, code, time: Number(updated_at), lastSuccess });
      }
    }
    for (const id of ids) {
      for (const results of unsaved) {
        const newer = results.get(id);
        const stored = health.get(id);
        if (newer === undefined || newer.time < (stored?.time ?? 0)) continue;
        health.set(id, { ...newer, lastSuccess: newer.lastSuccess ?? stored?.lastSuccess ?? null });
      }
    }
    return health;
  }

  /** Deletes destinations without a delivery since a time. */
  async deleteOld(time: number): Promise<void> {
    const db: Kysely<NotifyTables> = this.#context.db;
    await db.deleteFrom('destination_health').where('updated_at', '<', time).execute();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#save();
  }

  #save(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    return this.#writes.run(() => this.#write());
  }

  async #write(): Promise<void> {
    const results = this.#pending;
    if (results.size === 0) return;
    this.#beingWritten = results;
    this.#pending = new Map();
    const rows = [...results].map(([destination_id, { state, detail, code, time, lastSuccess }]) => ({
      destination_id,
      state,
      detail,
      code,
      updated_at: time,
      succeeded_at: lastSuccess,
    }));
    try {
      await this.#context.commit(async (transaction: Kysely<NotifyTables>) => {
        for (let start = 0; start < rows.length; start += batchSize) {
          await transaction
            .insertInto('destination_health')
            .values(rows.slice(start, start + batchSize))
            .onConflict((conflict) =>
              conflict.column('destination_id').doUpdateSet((on) => ({
                state: on.ref('excluded.state'),
                detail: on.ref('excluded.detail'),
                code: on.ref('excluded.code'),
                updated_at: on.ref('excluded.updated_at'),
                succeeded_at: on.fn.coalesce('excluded.succeeded_at', 'destination_health.succeeded_at'),
              })),
            )
            .execute();
        }
      });
    } catch (error) {
      // The next result of each destination is written again.
      this.#context.log.warn('destination health update failed', { destinations: rows.length, error });
    } finally {
      this.#beingWritten = new Map();
    }
  }
}

/** Returns the health of a destination with several receivers: the worst of their last results. */
export function findWorstHealth(ids: readonly string[], all: ReadonlyMap<string, NotifyHealth>): NotifyHealth | null {
  const parts = ids.flatMap((id) => all.get(id) ?? []);
  const rank = { dead: 0, waiting: 1, done: 2 } as const;
  return parts.sort((a, b) => rank[a.state] - rank[b.state] || b.time - a.time)[0] ?? null;
}
