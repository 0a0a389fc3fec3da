import { sql, type Kysely } from 'kysely';
import { executeCached } from '../../kit/cached-statement.ts';
import { isPostgres } from '../../kit/dialect.ts';

interface Tables {
  messages: {
    seq: number;
    id: string;
    topic: string;
    time: number;
    expires: number;
    text: string;
    inbox: string | null;
  };
}

/** Message with the inbox copy, when the inbox stores it. */
export interface FeedMessage {
  readonly seq: number;
  readonly text: string;
  readonly inbox: string | null;
}

/** Reads messages in the order of their numbers for the inbox feed. */
export class FeedStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Returns the newest number, or 0 without messages. No message with a lower number can appear later. */
  async top(): Promise<number> {
    const build = () =>
      this.#db.selectFrom('messages').select('seq').orderBy('seq', 'desc').limit(sql.lit(1)).compile();
    const { rows } = await executeCached(this.#db, 'push.top', [], build);
    // Numbers are assigned before the commit, so another host may hold a lower number in an open transaction.
    await waitForInserts(this.#db);
    return rows[0]?.seq ?? 0;
  }

  /** Returns messages after a number and up to another, in order. */
  async after(seq: number, upTo: number, limit: number): Promise<readonly FeedMessage[]> {
    const build = () =>
      this.#db
        .selectFrom('messages')
        .select(['seq', 'inbox'])
        .select(sql<string>`case when inbox is null then '' else text end`.as('text'))
        .where('seq', '>', seq)
        .where('seq', '<=', upTo)
        .orderBy('seq')
        .limit(limit)
        .compile();
    return (await executeCached(this.#db, 'push.feed', [seq, upTo, limit], build)).rows;
  }
}

/**
 * Advisory lock of the messages of this schema: shared by transactions that insert, exclusive for a reader that must
 * know that no insert is in progress.
 */
const insertLock = sql`hashtext(current_schema() || '.messages')`;

/**
 * Takes the insert lock. Must be awaited in the transaction that inserts messages, before their numbers are assigned.
 */
export async function lockForInsert(transaction: Kysely<any>): Promise<void> {
  if (isPostgres(transaction)) await sql`select pg_advisory_xact_lock_shared(${insertLock})`.execute(transaction);
}

/** Resolves when inserts that have begun, on any host, are committed or rolled back. */
export async function waitForInserts(db: Kysely<any>): Promise<void> {
  if (isPostgres(db)) await sql`select pg_advisory_xact_lock(${insertLock})`.execute(db);
}
