import type { Kysely } from 'kysely';

/** Stored configuration. */
export interface ProfileRow {
  readonly uuid: string;
  readonly salt: string;
  readonly config: string;
  readonly kept_password: string | null;
  /** 1: created by another site or an unknown visitor; 2: created by an account that is not an administrator. */
  readonly made_elsewhere: number;
  readonly owner: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

interface Tables {
  profiles: ProfileRow;
  plays: { readonly service: string; readonly hash: string; readonly seen_at: number };
}

/** Reads and writes the table of configurations. */
export class ProfileStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<any>) {
    this.#db = db;
  }

  async find(uuid: string): Promise<ProfileRow | undefined> {
    const row = await this.#db.selectFrom('profiles').selectAll().where('uuid', '=', uuid).executeTakeFirst();
    // PostgreSQL returns a bigint as text.
    return row && { ...row, created_at: Number(row.created_at), updated_at: Number(row.updated_at) };
  }

  /** Returns the configurations that are managed on the page, oldest first. */
  async listManaged(): Promise<readonly ProfileRow[]> {
    const rows = await this.#db
      .selectFrom('profiles')
      .selectAll()
      .where('kept_password', 'is not', null)
      .orderBy('created_at')
      .orderBy('uuid')
      .execute();
    return rows.map((row) => ({ ...row, created_at: Number(row.created_at), updated_at: Number(row.updated_at) }));
  }

  async count(): Promise<number> {
    const row = await this.#db
      .selectFrom('profiles')
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }

  async insert(transaction: Kysely<Tables>, row: ProfileRow): Promise<void> {
    await transaction.insertInto('profiles').values(row).execute();
  }

  async countByOwner(owner: string): Promise<number> {
    const row = await this.#db
      .selectFrom('profiles')
      .select(({ fn }) => fn.countAll().as('count'))
      .where('owner', '=', owner)
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }

  async changeOwner(transaction: Kysely<Tables>, owner: string, newOwner: string): Promise<void> {
    await transaction.updateTable('profiles').set({ owner: newOwner }).where('owner', '=', owner).execute();
  }

  async removeByOwner(transaction: Kysely<Tables>, owner: string): Promise<void> {
    await transaction.deleteFrom('profiles').where('owner', '=', owner).execute();
  }

  /** Returns false when the configuration no longer exists. */
  async update(
    transaction: Kysely<Tables>,
    uuid: string,
    change: Partial<Omit<ProfileRow, 'uuid' | 'created_at'>>,
  ): Promise<boolean> {
    const result = await transaction.updateTable('profiles').set(change).where('uuid', '=', uuid).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  async remove(transaction: Kysely<Tables>, uuid: string): Promise<void> {
    await transaction.deleteFrom('profiles').where('uuid', '=', uuid).execute();
  }
}
