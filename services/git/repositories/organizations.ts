import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { OwnerRow, Tables } from '../store/tables.ts';

/** Owners that are not accounts. Their members administer the organization's repositories. */
export class Organizations {
  readonly #context: Pick<Context, 'accounts' | 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'accounts' | 'clock' | 'commit' | 'db'>) {
    this.#context = context;
    this.#db = context.db;
  }

  /** @throws Problem `git.name_taken` (422) */
  async create(
    name: string,
    values: Pick<OwnerRow, 'full_name' | 'description' | 'visibility'>,
    account: string,
  ): Promise<OwnerRow> {
    await this.#reserve(name);
    const created = await this.#context.commit(async (transaction: Kysely<Tables>) => {
      const row = await transaction
        .insertInto('owners')
        .values({
          name,
          lower_name: name.toLowerCase(),
          kind: 'organization',
          ...values,
          created_at: this.#context.clock.now(),
        })
        .onConflict((conflict) => conflict.column('lower_name').doNothing())
        .returningAll()
        .executeTakeFirst();
      if (row !== undefined)
        await transaction.insertInto('organization_members').values({ owner_id: row.id, account }).execute();
      return row;
    });
    if (created === undefined) throw nameTaken(name);
    return created;
  }

  /** @throws Problem `git.name_taken` (422) */
  async rename({ id, name: before }: Pick<OwnerRow, 'id' | 'name'>, name: string): Promise<void> {
    const isRenamed = name.toLowerCase() !== before.toLowerCase();
    if (isRenamed) await this.#reserve(name);
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      const lowerName = name.toLowerCase();
      const other = await transaction
        .selectFrom('owners')
        .select('id')
        .where('lower_name', '=', lowerName)
        .where('id', '!=', id)
        .executeTakeFirst();
      if (other !== undefined) throw nameTaken(name);
      await transaction.updateTable('owners').set({ name, lower_name: lowerName }).where('id', '=', id).execute();
    });
    if (isRenamed) await this.#context.accounts.releaseName('git', before);
  }

  /** @throws Problem `git.not_empty` (409) while it has repositories. */
  async remove({ id, name }: Pick<OwnerRow, 'id' | 'name'>): Promise<void> {
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      const repository = await transaction
        .selectFrom('repositories')
        .select('id')
        .where('owner_id', '=', id)
        .executeTakeFirst();
      if (repository !== undefined) throw new Problem('git.not_empty', 409, 'the organization still has repositories');
      await transaction.deleteFrom('former_names').where('owner_id', '=', id).execute();
      await transaction.deleteFrom('owners').where('id', '=', id).execute();
    });
    await this.#context.accounts.releaseName('git', name);
  }

  /** Reserves the names of all organizations. Returns the names that accounts also have. */
  async claimNames(): Promise<readonly string[]> {
    const rows = await this.list();
    return this.#context.accounts.synchronizeNames(
      'git',
      rows.map(({ name }) => ({ name, kind: 'organization' })),
    );
  }

  /**
   * Reserves the name of an organization.
   * @throws Problem `git.name_taken` (422) if an account or another service has the name
   */
  async #reserve(name: string): Promise<void> {
    try {
      await this.#context.accounts.reserveName('git', { name, kind: 'organization' });
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 409) throw error;
      throw nameTaken(name, error);
    }
  }

  async list(): Promise<OwnerRow[]> {
    return this.#db.selectFrom('owners').selectAll().where('kind', '=', 'organization').orderBy('id').execute();
  }

  async listForAccount(account: string): Promise<OwnerRow[]> {
    return this.#db
      .selectFrom('owners')
      .innerJoin('organization_members', 'organization_members.owner_id', 'owners.id')
      .selectAll('owners')
      .where('organization_members.account', '=', account)
      .orderBy('owners.id')
      .execute();
  }

  async members(id: number): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('organization_members')
      .select('account')
      .where('owner_id', '=', id)
      .orderBy('account')
      .execute();
    return rows.map(({ account }) => account);
  }

  async addMember(id: number, account: string): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('organization_members')
        .values({ owner_id: id, account })
        .onConflict((conflict) => conflict.columns(['owner_id', 'account']).doNothing())
        .execute(),
    );
  }

  /**
   * Removes a member.
   * @throws Problem `git.last_member` (403), because an organization must have at least one member
   */
  async removeMember(id: number, account: string): Promise<void> {
    await this.#context.commit(async (transaction: Kysely<Tables>) => {
      const rows = await transaction
        .selectFrom('organization_members')
        .select('account')
        .where('owner_id', '=', id)
        .execute();
      if (rows.length === 1 && rows[0]?.account === account)
        throw new Problem('git.last_member', 403, 'user is the last member of team');
      await transaction
        .deleteFrom('organization_members')
        .where('owner_id', '=', id)
        .where('account', '=', account)
        .execute();
    });
  }
}

function nameTaken(name: string, cause?: unknown): Problem {
  return new Problem('git.name_taken', 422, `user already exists [name: ${name}]`, { cause });
}
