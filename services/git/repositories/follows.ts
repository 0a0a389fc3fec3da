import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from '../store/tables.ts';

/** Number of followers, followed accounts and starred repositories of an account. */
export interface FollowCounts {
  readonly followers: number;
  readonly following: number;
  readonly starred: number;
}

/** Follow relationships between accounts. */
export class Follows {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db'>) {
    this.#context = context;
    this.#db = context.db;
  }

  async followers(name: string): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('follows')
      .select('account')
      .where('followed', '=', name)
      .orderBy('created_at')
      .execute();
    return rows.map(({ account }) => account);
  }

  async following(account: string): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('follows')
      .select('followed')
      .where('account', '=', account)
      .orderBy('created_at')
      .execute();
    return rows.map(({ followed }) => followed);
  }

  async counts(account: string): Promise<FollowCounts> {
    const count = async (table: 'follows' | 'stars', column: 'account' | 'followed'): Promise<number> => {
      const rows = this.#db.selectFrom(table as 'follows').select((is) => is.fn.countAll<number>().as('count'));
      return Number((await rows.where(column, '=', account).executeTakeFirst())?.count ?? 0);
    };
    const [followers, following, starred] = await Promise.all([
      count('follows', 'followed'),
      count('follows', 'account'),
      count('stars', 'account'),
    ]);
    return { followers, following, starred };
  }

  async follow(account: string, followed: string): Promise<void> {
    const row = { account, followed, created_at: this.#context.clock.now() };
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('follows')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
  }

  async unfollow(account: string, followed: string): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('follows').where('account', '=', account).where('followed', '=', followed).execute(),
    );
  }
}
