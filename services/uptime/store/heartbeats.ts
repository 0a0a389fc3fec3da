import { sql, type Kysely } from 'kysely';
import { executeCached, chunkRows } from '../../kit/cached-statement.ts';
import type { CodedFailure } from '../../contracts/uptime/causes.ts';
import type { JudgedHeartbeat } from '../domain/judge.ts';
import type { Tables } from './tables.ts';

/** Maximum number of cached message IDs. */
const maxCachedMessages = 20_000;

/** Maximum number of heartbeats in one query. */
const maxPageSize = 5000;

const heartbeatColumns = sql.raw(
  'beats.monitor_id, beats.at, beats.status, beats.ping, beats.important, beats.retries, messages.text, messages.failure',
);

export interface StoredHeartbeat extends JudgedHeartbeat {
  readonly monitorId: number;
}

/** Stores heartbeats. Messages repeat and are stored in a separate table. */
export class HeartbeatStore {
  readonly #db: Kysely<Tables>;
  readonly #messageIds = new Map<string, number>();

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async add(transaction: Kysely<Tables>, heartbeats: readonly StoredHeartbeat[]): Promise<void> {
    const messages = new Map(heartbeats.map(({ msg, failure }) => [toStorable(msg), failure]));
    const numbers = await this.#getMessageIds(transaction, messages);
    for (const chunk of chunkRows(heartbeats)) {
      const rows = chunk.map((heartbeat) => ({
        monitor_id: heartbeat.monitorId,
        at: heartbeat.at,
        status: heartbeat.status,
        ping: heartbeat.ping,
        message_id: numbers.get(toStorable(heartbeat.msg)) ?? 0,
        important: heartbeat.important ? (1 as const) : (0 as const),
        retries: heartbeat.retries,
      }));
      const values = rows.flatMap((row) => Object.values(row));
      await executeCached(transaction, `uptime.beats.${String(rows.length)}`, values, () =>
        transaction
          .insertInto('beats')
          .values(rows)
          .onConflict((conflict) => conflict.columns(['monitor_id', 'at']).doNothing())
          .compile(),
      );
    }
  }

  /** Lists heartbeats of a monitor, newest first. */
  async list(
    id: number,
    options: { readonly before?: number | undefined; readonly important?: boolean; readonly limit: number },
  ): Promise<StoredHeartbeat[]> {
    const { before, important, limit } = options;
    const rows = await this.#select()
      .where('monitor_id', '=', id)
      .$if(before !== undefined, (query) => query.where('at', '<', before ?? 0))
      .$if(important === true, (query) => query.where(sql<boolean>`important = 1`))
      .orderBy('at', 'desc')
      .limit(limit + 1)
      .execute();
    return withDurations(rows.toReversed())
      .slice(rows.length > limit ? 1 : 0)
      .toReversed();
  }

  /** Lists all heartbeats of a monitor since a time, oldest first. */
  async since(id: number, from: number): Promise<StoredHeartbeat[]> {
    return withDurations(
      await this.#select().where('monitor_id', '=', id).where('at', '>=', from).orderBy('at').execute(),
    );
  }

  /** Returns the latest heartbeats of several monitors, oldest first. */
  async recent(ids: readonly number[], count: number): Promise<Map<number, StoredHeartbeat[]>> {
    const heartbeatsByMonitor = new Map<number, StoredHeartbeat[]>();
    for (const id of ids) heartbeatsByMonitor.set(id, (await this.list(id, { limit: count })).toReversed());
    return heartbeatsByMonitor;
  }

  /** Returns the latest heartbeat of each monitor. PostgreSQL only. */
  async latest(): Promise<readonly Omit<StoredHeartbeat, 'duration'>[]> {
    const { rows } = await sql<Row>`select ${heartbeatColumns} from monitors cross join lateral
      (select * from beats where beats.monitor_id = monitors.id order by at desc limit 1) as beats
      join messages on messages.id = beats.message_id`.execute(this.#db);
    return rows.map(toHeartbeat);
  }

  /** Lists heartbeats after a time of each monitor, oldest first; not all of them if there are many. PostgreSQL only. */
  async after(times: ReadonlyMap<number, number>): Promise<{
    readonly rows: readonly Omit<StoredHeartbeat, 'duration'>[];
    readonly isComplete: boolean;
  }> {
    const { rows } = await sql<Row>`select ${heartbeatColumns}
      from unnest(${[...times.keys()]}::bigint[], ${[...times.values()]}::bigint[]) as latest (id, time)
      join beats on beats.monitor_id = latest.id and beats.at > latest.time
      join messages on messages.id = beats.message_id
      order by beats.monitor_id, beats.at limit ${sql.lit(maxPageSize)}`.execute(this.#db);
    return { rows: rows.map(toHeartbeat), isComplete: rows.length < maxPageSize };
  }

  /** Lists the state changes of one or all monitors, newest first. */
  async important(id: number | undefined, offset: number, limit: number): Promise<StoredHeartbeat[]> {
    const rows = await this.#select()
      .where(sql<boolean>`important = 1`)
      .$if(id !== undefined, (query) => query.where('monitor_id', '=', id ?? 0))
      .orderBy('at', 'desc')
      .offset(offset)
      .limit(limit)
      .execute();
    return rows.map((row) => ({ ...toHeartbeat(row), duration: 0 }));
  }

  async countImportant(id: number | undefined): Promise<number> {
    const row = await this.#db
      .selectFrom('beats')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(sql<boolean>`important = 1`)
      .$if(id !== undefined, (query) => query.where('monitor_id', '=', id ?? 0))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }

  /** Removes heartbeats older than `before`, and state changes older than `importantBefore`. */
  async removeOld(transaction: Kysely<Tables>, id: number, before: number, importantBefore: number): Promise<void> {
    await transaction
      .deleteFrom('beats')
      .where('monitor_id', '=', id)
      .where('at', '<', before)
      .where((row) => row.or([row('important', '=', 0), row('at', '<', importantBefore)]))
      .execute();
  }

  /** Clears the history of state changes but keeps the heartbeats. */
  async clearImportant(transaction: Kysely<Tables>, id: number): Promise<void> {
    await transaction
      .updateTable('beats')
      .set({ important: 0 })
      .where('monitor_id', '=', id)
      .where('important', '=', 1)
      .execute();
  }

  async clear(transaction: Kysely<Tables>, id: number | undefined): Promise<void> {
    await transaction
      .deleteFrom('beats')
      .$if(id !== undefined, (query) => query.where('monitor_id', '=', id ?? 0))
      .execute();
  }

  #select() {
    return this.#db
      .selectFrom('beats')
      .innerJoin('messages', 'messages.id', 'beats.message_id')
      .select(['monitor_id', 'at', 'status', 'ping', 'important', 'retries', 'text', 'failure']);
  }

  async #getMessageIds(
    transaction: Kysely<Tables>,
    messages: ReadonlyMap<string, CodedFailure | undefined>,
  ): Promise<ReadonlyMap<string, number>> {
    const ids = new Map<string, number>();
    for (const [text, failure] of messages) {
      const cachedId = this.#messageIds.get(text);
      if (cachedId !== undefined) {
        ids.set(text, cachedId);
        continue;
      }
      await transaction
        .insertInto('messages')
        .values({ text, failure: failure === undefined ? null : toStorable(JSON.stringify(failure)) })
        .onConflict((conflict) => conflict.column('text').doNothing())
        .execute();
      const { id } = await transaction
        .selectFrom('messages')
        .select('id')
        .where('text', '=', text)
        .executeTakeFirstOrThrow();
      ids.set(text, id);
    }
    return ids;
  }

  /**
   * Caches the IDs of committed messages. IDs of an open transaction must not be cached, since it may be rolled back.
   */
  async cacheMessageIds(texts: Iterable<string>): Promise<void> {
    const unknown = [...new Set([...texts].map(toStorable))]
      .filter((text) => !this.#messageIds.has(text))
      .slice(0, 500);
    if (unknown.length === 0) return;
    const rows = await this.#db.selectFrom('messages').select(['id', 'text']).where('text', 'in', unknown).execute();
    for (const { id, text } of rows) this.#messageIds.set(text, id);
    for (const text of this.#messageIds.keys()) {
      if (this.#messageIds.size <= maxCachedMessages) break;
      this.#messageIds.delete(text);
    }
  }

  /** Forgets the cached IDs, since another host can have removed messages. */
  clearMessageIds(): void {
    this.#messageIds.clear();
  }

  /** Removes unused messages once there are many, because the query scans all heartbeats. */
  async removeUnusedMessages(transaction: Kysely<Tables>): Promise<void> {
    const { count } = await transaction
      .selectFrom('messages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    if (Number(count) <= maxCachedMessages) return;
    const used = transaction.selectFrom('beats').select('message_id');
    await transaction.deleteFrom('messages').where('id', 'not in', used).execute();
    this.#messageIds.clear();
  }
}

type Row = Pick<Tables['beats'], 'monitor_id' | 'at' | 'status' | 'ping' | 'important' | 'retries'> &
  Pick<Tables['messages'], 'failure' | 'text'>;

function toHeartbeat(row: Row): Omit<StoredHeartbeat, 'duration'> {
  const { monitor_id: monitorId, at, status, ping, important, retries, text: msg } = row;
  const failure = row.failure === null ? {} : { failure: JSON.parse(row.failure) as CodedFailure };
  return { monitorId, at, status, ping, important: important === 1, retries, msg, ...failure };
}

/** Adds the durations between consecutive heartbeats. */
function withDurations(rows: readonly Row[]): StoredHeartbeat[] {
  return rows.map((row, index) => {
    const before = rows[index - 1]?.at ?? row.at;
    return { ...toHeartbeat(row), duration: Math.round((row.at - before) / 1000) };
  });
}

function toStorable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
