import type { Kysely } from 'kysely';
import { AccountName } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import { Problem } from '../../contracts/problem.ts';
import type { OwnerProfile, OwnerRow, Tables } from '../store/tables.ts';
import { CachedRows } from '../../kit/cached-rows.ts';
import { findAccountOfEmail } from './commit-email.ts';
import { checkOwnerRow, type Repositories } from './repositories.ts';

/** Changes of an owner. Undefined fields stay unchanged. */
export interface OwnerChange {
  readonly full_name?: string | undefined;
  readonly description?: string | undefined;
  readonly visibility?: OwnerRow['visibility'] | undefined;
  readonly email?: string | undefined;
  readonly profile?: OwnerProfile;
}

/** Maximum number of cached rows. Owners rarely change. */
const maxCached = 1000;

/** Names that the host reserves for retained data of removed accounts. */
const removedNamePattern = /\.removed(-\d+)?$/;

/** Rows of owners. The row of an account is created at its first use. */
export class Owners {
  readonly #context: Pick<Context, 'accounts' | 'bus' | 'commit' | 'db' | 'log'>;
  readonly #repositories: Repositories;
  readonly #cache = new Map<number, OwnerRow>();
  readonly #cachedRows: CachedRows;

  constructor(context: Pick<Context, 'accounts' | 'bus' | 'commit' | 'db' | 'log'>, repositories: Repositories) {
    this.#context = context;
    this.#repositories = repositories;
    const reload = (): Promise<void> => Promise.resolve(this.#cache.clear());
    this.#cachedRows = new CachedRows({ bus: context.bus, log: context.log, rows: 'git.owners', reload });
  }

  /** Follows the changes of other hosts until it is disposed. */
  follow(): Disposable {
    return this.#cachedRows.follow();
  }

  async getById(id: number): Promise<OwnerRow> {
    const cached = this.#cache.get(id);
    if (cached !== undefined) return cached;
    const row = await this.#repositories.findOwnerById(id);
    if (row === undefined) throw new Problem('git.unknown', 404, 'not found');
    if (this.#cache.size >= maxCached) this.#cache.clear();
    this.#cache.set(id, row);
    return row;
  }

  /** Finds an organization or account by name, ignoring case. */
  async find(name: string): Promise<OwnerRow | undefined> {
    const row = await this.#repositories.findOwner(name);
    if (row !== undefined) return row;
    const account = await this.#account(name);
    return account === undefined ? undefined : this.getForAccount(account);
  }

  /**
   * Returns the row of an existing account and creates it if necessary.
   * @throws Problem `git.name_conflict` (409) if another owner has its name
   */
  async getForAccount(name: string): Promise<OwnerRow> {
    const row = await this.#repositories.findOwner(name);
    if (row !== undefined) {
      checkOwnerRow(row, name);
      return row;
    }
    const { accounts, commit } = this.#context;
    const account = await accounts.find(name);
    return commit((transaction) => this.#repositories.ensureOwner(transaction, name, account?.createdAt ?? 0));
  }

  /** Finds accounts by email addresses of commits: generated addresses and addresses that accounts have set. */
  async findAccountsByEmail(emails: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const addresses = [...new Set(emails.map((email) => email.toLowerCase()))].filter((email) => email !== '');
    const rows =
      addresses.length === 0
        ? []
        : await (this.#context.db as Kysely<Tables>)
            .selectFrom('owners')
            .select(['email', 'name'])
            .where('kind', '=', 'account')
            .where((is) => is(is.fn<string>('lower', ['email']), 'in', addresses))
            .execute();
    const accountsByEmail = new Map(rows.map(({ email, name }) => [email.toLowerCase(), name]));
    return new Map(
      emails.flatMap((email) => {
        const name = findAccountOfEmail(email) ?? accountsByEmail.get(email.toLowerCase());
        return name === undefined ? [] : [[email, name] as const];
      }),
    );
  }

  /** Lists names of deleted accounts whose rows still exist under a name that a new account could have. */
  async listAbandoned(): Promise<readonly string[]> {
    const { accounts, db } = this.#context;
    const [rows, existing] = await Promise.all([
      (db as Kysely<Tables>).selectFrom('owners').select('name').where('kind', '=', 'account').execute(),
      accounts.list(),
    ]);
    const names = new Set(existing.map(({ name }) => name));
    const isUsable = (name: string): boolean => AccountName.safeParse(name).success && !removedNamePattern.test(name);
    return rows.flatMap(({ name }) => (!names.has(name) && isUsable(name) ? [name] : []));
  }

  async change({ id }: Pick<OwnerRow, 'id'>, { profile = {}, ...values }: OwnerChange): Promise<OwnerRow> {
    const row = await this.#context.commit(async (transaction: Kysely<Tables>) => {
      const before = await transaction.selectFrom('owners').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
      const newProfile = { ...(JSON.parse(before.profile) as OwnerProfile), ...omitUndefined(profile) };
      const set = { ...omitUndefined(values), profile: JSON.stringify(newProfile) };
      return transaction.updateTable('owners').set(set).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
    });
    this.evict(id);
    return row;
  }

  /** Removes a deleted owner from the cache. */
  evict(id: number): void {
    this.#cache.delete(id);
    this.#cachedRows.changed();
  }

  async #account(name: string): Promise<string | undefined> {
    const exact = await this.#context.accounts.find(name);
    if (exact !== undefined) return exact.name;
    const lower = name.toLowerCase();
    return (await this.#context.accounts.list()).find((account) => account.name.toLowerCase() === lower)?.name;
  }
}

function omitUndefined(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
