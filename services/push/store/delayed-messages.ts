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

/** Delayed message. */
export interface DelayedMessageRow {
  readonly id: string;
  readonly topic: string;
  /** Id of its sequence; the message id when it has none. */
  readonly sequence: string;
  /** Unix seconds. */
  readonly time: number;
  readonly expires: number;
  /** JSON as it will be sent to clients. */
  readonly text: string;
  /** Inbox fields that the text does not contain. */
  readonly entry: string | null;
  /** Newest cached message when this one was accepted. */
  readonly after: number;
  /** Account that scheduled the message. */
  readonly account: string | null;
}

/** Position in the list of delayed messages: after the message with this time and number. */
export interface DelayedPosition {
  readonly time: number;
  readonly seq: number;
}

/** Stores delayed messages separately from published ones. */
export class DelayedMessageStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async insert(transaction: Kysely<Tables>, messages: readonly DelayedMessageRow[]): Promise<void> {
    if (messages.length > 0) await transaction.insertInto('scheduled').values(messages).execute();
  }

  /** Inserts the messages whose id does not exist yet and returns their number. */
  async insertMissing(transaction: Kysely<Tables>, messages: readonly DelayedMessageRow[]): Promise<number> {
    if (messages.length === 0) return 0;
    const rows = await transaction
      .insertInto('scheduled')
      .values(messages)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .execute();
    return rows.length;
  }

  /** Removes up to `limit` due messages, ordered by time, and returns them. Only one caller receives each message. */
  async takeDue(transaction: Kysely<Tables>, now: number, limit: number): Promise<readonly DelayedMessageRow[]> {
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

  /** Cancels the delayed messages of a sequence and returns their ids. */
  async cancel(transaction: Kysely<Tables>, topic: string, sequence: string): Promise<readonly string[]> {
    const rows = await transaction
      .deleteFrom('scheduled')
      .where('topic', '=', topic)
      .where('sequence', '=', sequence)
      .returning('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Removes one message regardless of its time. Returns undefined when it no longer exists. */
  async take(transaction: Kysely<Tables>, id: string): Promise<DelayedMessageRow | undefined> {
    return transaction.deleteFrom('scheduled').where('id', '=', id).returningAll().executeTakeFirst();
  }

  /** Changes the time of a message. Returns false when it no longer exists. */
  async reschedule(
    transaction: Kysely<Tables>,
    id: string,
    to: Pick<DelayedMessageRow, 'time' | 'expires' | 'text'>,
  ): Promise<boolean> {
    const result = await transaction.updateTable('scheduled').set(to).where('id', '=', id).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  async find(id: string): Promise<DelayedMessageRow | undefined> {
    return this.#db.selectFrom('scheduled').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** Returns delayed messages after a position, ordered by time, of one account or of all. */
  async list(
    account: string | undefined,
    after: DelayedPosition,
    limit: number,
  ): Promise<readonly (DelayedMessageRow & { readonly seq: number })[]> {
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

  /** Detaches delayed messages from a deleted account, so that a new account of the same name does not own them. */
  async detachAccount(transaction: Kysely<Tables>, account: string): Promise<void> {
    await transaction.updateTable('scheduled').set({ account: null }).where('account', '=', account).execute();
  }

  /** Returns the time of the next message in unix seconds. */
  async nextTime(): Promise<number | undefined> {
    const row = await this.#db.selectFrom('scheduled').select('time').orderBy('time').limit(1).executeTakeFirst();
    return row?.time;
  }

  /** Returns delayed messages of some topics after the last one already read, ordered by time. */
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

  /**
   * Returns the number of the newest cached message when this one was accepted; undefined without such a delayed
   * message.
   */
  async findAcceptedAfter(id: string): Promise<number | undefined> {
    const row = await this.#db.selectFrom('scheduled').select('after').where('id', '=', id).executeTakeFirst();
    return row?.after;
  }

  /** Returns the number of delayed messages of all accounts or of one. */
  async count(account?: string): Promise<number> {
    const row = await this.#db
      .selectFrom('scheduled')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .$if(account !== undefined, (query) => query.where('account', '=', account ?? ''))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }
}
