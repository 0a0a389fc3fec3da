import { sql, type Kysely } from 'kysely';
import { executeCached, chunkRows } from '../../kit/cached-statement.ts';
import type { JudgedBeat } from '../domain/judge.ts';
import type { Tables } from './tables.ts';

/** Maximum number of cached message IDs. */
const mostMessages = 20_000;

export interface StoredBeat extends JudgedBeat {
  readonly monitorId: number;
}

/** Stores heartbeats. Messages repeat and are stored in a separate table. */
export class BeatStore {
  readonly #db: Kysely<Tables>;
  readonly #numbers = new Map<string, number>();

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async add(transaction: Kysely<Tables>, beats: readonly StoredBeat[]): Promise<void> {
    const numbers = await this.#numbersOf(transaction, new Set(beats.map(({ msg }) => storable(msg))));
    for (const part of chunkRows(beats)) {
      const rows = part.map((beat) => ({
        monitor_id: beat.monitorId,
        at: beat.at,
        status: beat.status,
        ping: beat.ping,
        message_id: numbers.get(storable(beat.msg)) ?? 0,
        important: beat.important ? (1 as const) : (0 as const),
        retries: beat.retries,
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
  ): Promise<StoredBeat[]> {
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
  async since(id: number, from: number): Promise<StoredBeat[]> {
    return withDurations(
      await this.#select().where('monitor_id', '=', id).where('at', '>=', from).orderBy('at').execute(),
    );
  }

  /** Returns the latest heartbeats of several monitors, oldest first. */
  async recent(ids: readonly number[], count: number): Promise<Map<number, StoredBeat[]>> {
    const found = new Map<number, StoredBeat[]>();
    for (const id of ids) found.set(id, (await this.list(id, { limit: count })).toReversed());
    return found;
  }

  /** Lists the state changes of one or all monitors, newest first. */
  async important(id: number | undefined, offset: number, limit: number): Promise<StoredBeat[]> {
    const rows = await this.#select()
      .where(sql<boolean>`important = 1`)
      .$if(id !== undefined, (query) => query.where('monitor_id', '=', id ?? 0))
      .orderBy('at', 'desc')
      .offset(offset)
      .limit(limit)
      .execute();
    return rows.map((row) => ({ ...beatOf(row), duration: 0 }));
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
  async forgetImportant(transaction: Kysely<Tables>, id: number): Promise<void> {
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
      .select(['monitor_id', 'at', 'status', 'ping', 'important', 'retries', 'text']);
  }

  async #numbersOf(transaction: Kysely<Tables>, texts: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for (const text of texts) {
      const known = this.#numbers.get(text);
      if (known !== undefined) {
        found.set(text, known);
        continue;
      }
      await transaction
        .insertInto('messages')
        .values({ text })
        .onConflict((conflict) => conflict.column('text').doNothing())
        .execute();
      const { id } = await transaction
        .selectFrom('messages')
        .select('id')
        .where('text', '=', text)
        .executeTakeFirstOrThrow();
      found.set(text, id);
    }
    return found;
  }

  /**
   * Caches the IDs of committed messages. IDs of an open transaction must not be cached, since it may be rolled back.
   */
  async learn(texts: Iterable<string>): Promise<void> {
    const unknown = [...new Set([...texts].map(storable))].filter((text) => !this.#numbers.has(text)).slice(0, 500);
    if (unknown.length === 0) return;
    const rows = await this.#db.selectFrom('messages').select(['id', 'text']).where('text', 'in', unknown).execute();
    for (const { id, text } of rows) this.#numbers.set(text, id);
    for (const text of this.#numbers.keys()) {
      if (this.#numbers.size <= mostMessages) break;
      this.#numbers.delete(text);
    }
  }

  /** Removes unused messages once there are many, because the query scans all heartbeats. */
  async forgetMessages(transaction: Kysely<Tables>): Promise<void> {
    const { count } = await transaction
      .selectFrom('messages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    if (Number(count) <= mostMessages) return;
    const used = transaction.selectFrom('beats').select('message_id');
    await transaction.deleteFrom('messages').where('id', 'not in', used).execute();
    this.#numbers.clear();
  }
}

type Row = Pick<Tables['beats'], 'monitor_id' | 'at' | 'status' | 'ping' | 'important' | 'retries'> & { text: string };

function beatOf(row: Row): Omit<StoredBeat, 'duration'> {
  const { monitor_id: monitorId, at, status, ping, important, retries, text: msg } = row;
  return { monitorId, at, status, ping, important: important === 1, retries, msg };
}

/** Adds the durations between consecutive heartbeats. */
function withDurations(rows: readonly Row[]): StoredBeat[] {
  return rows.map((row, index) => {
    const before = rows[index - 1]?.at ?? row.at;
    return { ...beatOf(row), duration: Math.round((row.at - before) / 1000) };
  });
}

function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
