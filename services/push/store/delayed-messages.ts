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
    account: string | null;
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
  /** What the inbox will show of it beyond its own text. */
  readonly entry: string | null;
  /** The newest cached message when this one was accepted. */
  readonly after: number;
  /** Who asked for it. */
  readonly account: string | null;
}

/** A place in the list of what waits: after the message of this time and number. */
export interface PlannedPlace {
  readonly time: number;
  readonly seq: number;
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

  /** Takes one message out, whenever it is due; undefined when it does not wait any more. */
  async take(transaction: Kysely<Tables>, id: string): Promise<ScheduledMessage | undefined> {
    return transaction.deleteFrom('scheduled').where('id', '=', id).returningAll().executeTakeFirst();
  }

  /** Gives a message another time; false when it does not wait any more. */
  async move(
    transaction: Kysely<Tables>,
    id: string,
    to: Pick<ScheduledMessage, 'time' | 'expires' | 'text'>,
  ): Promise<boolean> {
    const result = await transaction.updateTable('scheduled').set(to).where('id', '=', id).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  async find(id: string): Promise<ScheduledMessage | undefined> {
    return this.#db.selectFrom('scheduled').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** What waits after a place, by time; of one account where it is given. */
  async list(
    account: string | undefined,
    after: PlannedPlace,
    limit: number,
  ): Promise<readonly (ScheduledMessage & { readonly seq: number })[]> {
    return this.#db
      .selectFrom('scheduled')
      .selectAll()
      .$if(account !== undefined, (query) => query.where('account', '=', account ?? ''))
      .where('time', '>=', after.time)
      .where((row) => row.or([row('time', '>', after.time), row('seq', '>', after.seq)]))
      .orderBy('time')
      .orderBy('seq')
      .limit(limit)
      .execute();
  }

  /** Whose account is gone keeps no claim on what waits: another of that name is somebody else. */
  async disown(transaction: Kysely<Tables>, account: string): Promise<void> {
    await transaction.updateTable('scheduled').set({ account: null }).where('account', '=', account).execute();
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

  /** How many wait, of all or of one account. */
  async count(account?: string): Promise<number> {
    const row = await this.#db
      .selectFrom('scheduled')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .$if(account !== undefined, (query) => query.where('account', '=', account ?? ''))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }
}
