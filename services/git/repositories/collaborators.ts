import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { Collaboration, Tables } from '../store/tables.ts';

/** Accounts with a permission for a repository of another owner. */
export class Collaborators {
  readonly #context: Pick<Context, 'commit'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'commit' | 'db'>) {
    this.#context = context;
    this.#db = context.db;
  }

  list(repository: number): Promise<{ account: string; permission: Collaboration }[]> {
    return this.#db
      .selectFrom('collaborators')
      .select(['account', 'permission'])
      .where('repository_id', '=', repository)
      .orderBy('account')
      .execute();
  }

  /** Adds a collaborator or changes the permission. */
  async set(repository: number, account: string, permission: Collaboration): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('collaborators')
        .values({ repository_id: repository, account, permission })
        .onConflict((conflict) => conflict.columns(['repository_id', 'account']).doUpdateSet({ permission }))
        .execute(),
    );
  }

  /** Returns false if the account is not a collaborator. */
  async remove(repository: number, account: string): Promise<boolean> {
    const rows = await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .deleteFrom('collaborators')
        .where('repository_id', '=', repository)
        .where('account', '=', account)
        .returning('account')
        .execute(),
    );
    return rows.length > 0;
  }
}
