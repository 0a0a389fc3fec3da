import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { LockRow } from '../store/lfs.ts';
import type { Tables } from '../store/tables.ts';

export interface LockQuery {
  readonly path?: string | undefined;
  readonly id?: number | undefined;
  /** ID of the first lock of the page. */
  readonly from?: number | undefined;
  readonly limit: number;
}

/** Locks on large files. Clients check them before a push. */
export class Locks {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db'>) {
    this.#context = context;
    this.#db = context.db;
  }

  /** Locks a path. Returns the existing lock if the path is already locked. */
  async lock(
    repository: number,
    path: string,
    account: string,
  ): Promise<{ readonly lock: LockRow; readonly created: boolean }> {
    const { clock, commit } = this.#context;
    return commit(async (transaction: Kysely<Tables>) => {
      const inserted = await transaction
        .insertInto('lfs_locks')
        .values({ repository_id: repository, path, account, locked_at: clock.now() })
        .onConflict((conflict) => conflict.columns(['repository_id', 'path']).doNothing())
        .returningAll()
        .executeTakeFirst();
      if (inserted !== undefined) return { lock: inserted, created: true };
      const lock = await transaction
        .selectFrom('lfs_locks')
        .selectAll()
        .where('repository_id', '=', repository)
        .where('path', '=', path)
        .executeTakeFirstOrThrow();
      return { lock, created: false };
    });
  }

  list(repository: number, { path, id, from, limit }: LockQuery): Promise<LockRow[]> {
    let rows = this.#db.selectFrom('lfs_locks').selectAll().where('repository_id', '=', repository);
    if (path !== undefined) rows = rows.where('path', '=', path);
    if (id !== undefined) rows = rows.where('id', '=', id);
    if (from !== undefined) rows = rows.where('id', '>=', from);
    return rows.orderBy('id').limit(limit).execute();
  }

  async unlock({ id }: LockRow): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('lfs_locks').where('id', '=', id).execute(),
    );
  }
}
