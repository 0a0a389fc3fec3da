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

/** A message, and its copy for the inbox where it is meant for it. */
export interface FedMessage {
  readonly seq: number;
  readonly text: string;
  readonly inbox: string | null;
}

/** The messages as the inbox follows them, by their numbers. */
export class FeedStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** The newest number, 0 when there is none. No message with a number up to it can appear any more. */
  async top(): Promise<number> {
    const build = () =>
      this.#db.selectFrom('messages').select('seq').orderBy('seq', 'desc').limit(sql.lit(1)).compile();
    const { rows } = await executeCached(this.#db, 'push.top', [], build);
    // Numbers are given before the commit: another host may have taken a lower one and not be through yet.
    if (isPostgres(this.#db)) await sql`select pg_advisory_xact_lock(${insertLock})`.execute(this.#db);
    return rows[0]?.seq ?? 0;
  }

  /** Messages after a number, up to another and in their order. */
  async after(seq: number, upTo: number, limit: number): Promise<readonly FedMessage[]> {
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

/** Of this schema's messages: shared by all who insert some, alone for who must know that none is under way. */
const insertLock = sql`hashtext(current_schema() || '.messages')`;

/** To be awaited in the transaction that inserts messages, before their numbers are given. */
export async function announceInsert(transaction: Kysely<any>): Promise<void> {
  if (isPostgres(transaction)) await sql`select pg_advisory_xact_lock_shared(${insertLock})`.execute(transaction);
}
