import type { Generated, Kysely } from 'kysely';

interface Tables {
  scheduled: {
    seq: Generated<number>;
    id: string;
    topic: string;
    sequence: string;
    time: number;
    expires: number;
    text: string;
    entry: string | null;
    after: number;
  };
}

/** A message that waits for its time. */
export interface ScheduledMessage {
  readonly id: string;
  readonly topic: string;
  /** The id of its sequence, which is its own when it has none. */
  readonly sequence: string;
  /** When it is due, in unix seconds. */
  readonly time: number;
  readonly expires: number;
  /** Its JSON as it will go over the wire. */
  readonly text: string;
  /** What the inbox will get, as JSON. */
  readonly entry: string | null;
  /** The newest cached message when this one was accepted. */
  readonly after: number;
}

/** Messages to be delivered later, apart from those that are out. */
export class ScheduleStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async insert(transaction: Kysely<Tables>, messages: readonly ScheduledMessage[]): Promise<void> {
    if (messages.length > 0) await transaction.insertInto('scheduled').values(messages).execute();
  }

  /** Stores those whose id is not waiting yet; answers how many those were. */
  async insertMissing(transaction: Kysely<Tables>, messages: readonly ScheduledMessage[]): Promise<number> {
    if (messages.length === 0) return 0;
    const rows = await transaction
      .insertInto('scheduled')
      .values(messages)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .execute();
    return rows.length;
  }

  /** Takes up to `limit` messages that are due, in order of their time: whoever takes one is the only one to. */
  async takeDue(transaction: Kysely<Tables>, now: number, limit: number): Promise<readonly ScheduledMessage[]> {
    const due = transaction
      .selectFrom('scheduled')
      .select('seq')
      .where('time', '<=', now)
      .orderBy('time')
      .orderBy('seq')
      .limit(limit);
    const rows = await transaction.deleteFrom('scheduled').where('seq', 'in', due).returningAll().execute();
    return rows.toSorted((a, b) => a.time - b.time || a.seq - b.seq);
  }

  /** Takes back what waits under a sequence; answers the ids of the messages. */
  async cancel(transaction: Kysely<Tables>, topic: string, sequence: string): Promise<readonly string[]> {
    const rows = await transaction
      .deleteFrom('scheduled')
      .where('topic', '=', topic)
      .where('sequence', '=', sequence)
      .returning('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  /** When the next message is due, in unix seconds. */
  async nextTime(): Promise<number | undefined> {
    const row = await this.#db.selectFrom('scheduled').select('time').orderBy('time').limit(1).executeTakeFirst();
    return row?.time;
  }

  /** Waiting messages of some topics after the last that is known, by time. */
  async read(
    topics: readonly string[],
    after: { readonly time: number; readonly seq: number },
    limit: number,
  ): Promise<readonly { readonly seq: number; readonly time: number; readonly text: string }[]> {
    return this.#db
      .selectFrom('scheduled')
      .select(['seq', 'time', 'text'])
      .where('topic', 'in', topics)
      .where('time', '>=', after.time)
      .where((row) => row.or([row('time', '>', after.time), row('seq', '>', after.seq)]))
      .orderBy('time')
      .orderBy('seq')
      .limit(limit)
      .execute();
  }

  /** The newest cached message when this one was accepted; undefined when none waits under this id. */
  async placeOf(id: string): Promise<number | undefined> {
    const row = await this.#db.selectFrom('scheduled').select('after').where('id', '=', id).executeTakeFirst();
    return row?.after;
  }

  async count(): Promise<number> {
    const row = await this.#db
      .selectFrom('scheduled')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }
}
