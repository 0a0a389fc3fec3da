import { sql, type Kysely } from 'kysely';
import { executeCached } from '../../kit/cached-statement.ts';
import { waitForInserts } from './feed.ts';
import { hidden } from './removal.ts';

interface Tables {
  messages: { seq: number; time: number; expires: number; text: string };
}

/** Stored message; `text` is empty for a message that clients cannot read. */
export interface LiveMessage {
  readonly seq: number;
  readonly time: number;
  readonly text: string;
}

/** Reads stored messages in the order of their numbers, for open streams. */
export class LiveMessages {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Returns messages after a number, in order. A lower number can still appear until {@link settle} resolves. */
  async after(seq: number, limit: number): Promise<readonly LiveMessage[]> {
    const build = () =>
      this.#db
        .selectFrom('messages')
        .select(['seq', 'time'])
        .select(sql<string>`case when expires > ${sql.lit(hidden)} then text else '' end`.as('text'))
        .where('seq', '>', seq)
        .orderBy('seq')
        .limit(limit)
        .compile();
    return (await executeCached(this.#db, 'push.live', [seq, limit], build)).rows;
  }

  /** Resolves when inserts that have begun are committed or rolled back. */
  settle(): Promise<void> {
    return waitForInserts(this.#db);
  }
}
