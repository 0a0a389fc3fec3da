import * as m from '#messages/data-problems';
import type { Kysely } from 'kysely';
import { compareNames } from '../../contracts/compare-names.ts';
import type { SavedQuery } from '../../contracts/data/queries.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from './tables.ts';

/** Maximum number of queries per account. */
const maxQueries = 500;

/** Named statements, separate for each account. */
export class SavedQueries {
  readonly #context: Pick<Context, 'db' | 'commit' | 'clock' | 'random'>;

  constructor(context: Pick<Context, 'db' | 'commit' | 'clock' | 'random'>) {
    this.#context = context;
  }

  /** Lists the queries of the first account, and of further accounts with the account after the name. */
  async list(accounts: readonly string[]): Promise<SavedQuery[]> {
    const rows = await this.#db.selectFrom('saved_queries').selectAll().where('account', 'in', accounts).execute();
    const [caller] = accounts;
    const labeled = rows.map((row) => ({
      ...row,
      name: row.account === caller ? row.name : `${row.name} (${row.account})`,
    }));
    return labeled.map(toSavedQuery).toSorted((a, b) => compareNames(a.name, b.name));
  }

  /** Returns the names of all accounts that have queries, also of removed ones whose queries are kept. */
  async owners(): Promise<readonly string[]> {
    const rows = await this.#db.selectFrom('saved_queries').select('account').distinct().execute();
    return rows.map(({ account }) => account);
  }

  /** @throws Problem `data.too_many_queries` (409). */
  async create(account: string, { name, text }: { readonly name: string; readonly text: string }): Promise<SavedQuery> {
    const { clock, commit, random } = this.#context;
    const row = { id: random.text(12), account, name, text, changed_at: clock.now() };
    if ((await this.list([account])).length >= maxQueries) {
      throw new Problem('data.too_many_queries', 409, m.tooManyQueries({ maxQueries: maxQueries }));
    }
    await commit((transaction: Kysely<Tables>) => transaction.insertInto('saved_queries').values(row).execute());
    return toSavedQuery(row);
  }

  /** @throws Problem `data.unknown_query` (404). */
  async change(
    accounts: readonly string[],
    id: string,
    change: { readonly name?: string | undefined; readonly text?: string | undefined },
  ): Promise<SavedQuery> {
    const changed_at = this.#context.clock.now();
    const row = await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .updateTable('saved_queries')
        .set({ ...change, changed_at })
        .where('id', '=', id)
        .where('account', 'in', accounts)
        .returningAll()
        .executeTakeFirst(),
    );
    if (row === undefined) throw createUnknownQueryError();
    return toSavedQuery(row);
  }

  /** @throws Problem `data.unknown_query` (404). */
  async remove(accounts: readonly string[], id: string): Promise<void> {
    const { numDeletedRows } = await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('saved_queries').where('id', '=', id).where('account', 'in', accounts).executeTakeFirst(),
    );
    if (numDeletedRows === 0n) throw createUnknownQueryError();
  }

  /** Transfers the queries of an account to another one. */
  async move(account: string, to: string): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.updateTable('saved_queries').set({ account: to }).where('account', '=', account).execute(),
    );
  }

  /** Deletes the queries of a removed account. */
  async deleteAccount(account: string): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('saved_queries').where('account', '=', account).execute(),
    );
  }

  get #db(): Kysely<Tables> {
    return this.#context.db;
  }
}

function toSavedQuery({ id, name, text, changed_at }: Tables['saved_queries']): SavedQuery {
  return { id, name, text, changedAt: Number(changed_at) };
}

function createUnknownQueryError(): Problem {
  return new Problem('data.unknown_query', 404, m.queryNotFound());
}
