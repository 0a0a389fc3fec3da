import * as m from '#messages/git-texts';
import type { Kysely } from 'kysely';
import type { AccountData, AccountDataSummary, AccountDisposition } from '../../contracts/control/account-data.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { removeFromIssues } from '../issues/account-removal.ts';
import type { OwnerRow, Tables } from '../store/tables.ts';
import type { RepositoryManager } from '../repositories/repository-manager.ts';
import type { Objects } from '../repositories/objects.ts';
import type { Owners } from '../repositories/owners.ts';
import type { Repositories, Repository } from '../repositories/repositories.ts';
import { buildCandidatePattern } from '../../kit/like-pattern.ts';

export interface AccountDataDependencies {
  readonly context: Pick<Context, 'clock' | 'commit' | 'db'>;
  readonly manager: RepositoryManager;
  readonly objects: Objects;
  readonly owners: Owners;
  readonly repositories: Repositories;
}

/** Author of the content of a deleted account. No account can have this name because it contains a blank. */
const deletedAuthorName = 'deleted account';
const pageSize = 50;

/** Deletes, transfers or retains an account's data in Code. Authorship is never transferred to another account. */
export function createAccountData(deps: AccountDataDependencies): AccountData {
  const { context, owners, repositories } = deps;
  const db: Kysely<Tables> = context.db;

  const findOwnerRow = (account: string): Promise<OwnerRow | undefined> =>
    db.selectFrom('owners').selectAll().where('kind', '=', 'account').where('name', '=', account).executeTakeFirst();

  return {
    async summary(account): Promise<readonly AccountDataSummary[]> {
      const count = async (table: 'tokens' | 'public_keys' | 'organization_members'): Promise<number> => {
        const row = await db
          .selectFrom(table)
          .select((is) => is.fn.countAll<number>().as('count'))
          .where('account', '=', account)
          .executeTakeFirst();
        return Number(row?.count ?? 0);
      };
      const row = await findOwnerRow(account);
      const page = row === undefined ? 0 : (await listOwned(repositories, row, 1)).total;
      const summaries = [
        { label: m.ownedRepositories, count: page },
        { label: m.ownedOrganizations, count: await count('organization_members') },
        { label: m.ownedTokens, count: await count('tokens') },
        { label: m.ownedKeys, count: await count('public_keys') },
      ];
      return summaries
        .filter((each) => each.count > 0)
        .map(({ label, count: total }) => ({ kind: label({ count: total }), count: total }));
    },

    async release(account, disposition): Promise<void> {
      const row = await findOwnerRow(account);
      // Remove the hooks first: afterwards the account's repositories are no longer identifiable.
      if (row !== undefined) {
        await context.commit((transaction: Kysely<Tables>) => removeHooks(transaction, row.id));
        await releaseRepositories(deps, row, disposition);
      }
      const author = disposition.action === 'keep' ? disposition.as : deletedAuthorName;
      await context.commit((transaction: Kysely<Tables>) => removeAccount(transaction, account, author, row?.id));
      if (row !== undefined) owners.evict(row.id);
    },
  };
}

async function listOwned(repositories: Repositories, { id }: OwnerRow, limit: number) {
  return repositories.list({ visibility: 'all', ownerId: id, sort: 'id', limit, offset: 0 });
}

async function releaseRepositories(
  deps: AccountDataDependencies,
  row: OwnerRow,
  disposition: AccountDisposition,
): Promise<void> {
  const { context, manager, objects, owners, repositories } = deps;
  if (disposition.action === 'keep') {
    await context.commit((transaction: Kysely<Tables>) => renameOwner(transaction, row, disposition.as));
    return;
  }
  const target = disposition.action === 'transfer' ? await owners.getForAccount(disposition.to) : undefined;
  for (;;) {
    const page = await listOwned(repositories, row, pageSize);
    if (page.total === 0) break;
    for (const repository of page.repositories) {
      if (target === undefined) {
        await objects.close(manager.getFolder(repository));
        await manager.remove(repository);
      } else await transfer(manager, repository, target);
    }
  }
}

/** Renames the retained row to the reserved name, including everything that refers to it. */
async function renameOwner(transaction: Kysely<Tables>, { id }: OwnerRow, name: string): Promise<void> {
  await transaction.updateTable('owners').set({ name, lower_name: name.toLowerCase() }).where('id', '=', id).execute();
}

/** Transfers a repository to an account, under another name if the account already has a repository with this name. */
async function transfer(manager: RepositoryManager, repository: Repository, target: OwnerRow): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const name = attempt === 0 ? repository.name : `${repository.name}-${attempt}`;
    try {
      return await manager.rename(repository, { owner: target, name });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'git.name_taken') throw error;
    }
  }
}

/** Removes everything that refers to an account by name. Its content is retained under the name of `author`. */
async function removeAccount(
  transaction: Kysely<Tables>,
  account: string,
  author: string,
  ownerId: number | undefined,
): Promise<void> {
  const personalTables = [
    'tokens',
    'public_keys',
    'collaborators',
    'organization_members',
    'repository_watches',
    'stars',
    'issue_reactions',
    'lfs_locks',
    'transfers',
  ] as const;
  for (const table of personalTables) await transaction.deleteFrom(table).where('account', '=', account).execute();
  await removeFromIssues(transaction, account);
  await transaction
    .deleteFrom('follows')
    .where((is) => is.or([is('account', '=', account), is('followed', '=', account)]))
    .execute();
  for (const table of ['issues', 'issue_entries', 'reviews', 'releases'] as const) {
    await transaction.updateTable(table).set({ author }).where('author', '=', account).execute();
  }
  for (const table of [
    'commit_statuses',
    'issue_attachments',
    'tracked_times',
    'push_history',
    'pushes',
    'pull_merges',
  ] as const) {
    await transaction.updateTable(table).set({ account: author }).where('account', '=', account).execute();
  }
  await transaction.updateTable('pulls').set({ merged_by: author }).where('merged_by', '=', account).execute();
  await removeFromProtections(transaction, account);
  if (ownerId !== undefined) await removeOwner(transaction, ownerId, account);
}

/** Removes the webhooks of an owner and of its repositories, which send to addresses of the former account. */
async function removeHooks(transaction: Kysely<Tables>, id: number): Promise<void> {
  const page = transaction.selectFrom('repositories').select('id').where('owner_id', '=', id);
  await transaction
    .deleteFrom('webhooks')
    .where((is) => is.or([is('owner_id', '=', id), is('repository_id', 'in', page)]))
    .execute();
}

/** Removes the row of an owner, unless it was retained under another name. */
async function removeOwner(transaction: Kysely<Tables>, id: number, account: string): Promise<void> {
  await transaction.deleteFrom('transfers').where('owner_id', '=', id).execute();
  const row = await transaction.selectFrom('owners').select('name').where('id', '=', id).executeTakeFirst();
  if (row?.name !== account) return;
  await transaction.deleteFrom('former_names').where('owner_id', '=', id).execute();
  await transaction.deleteFrom('owners').where('id', '=', id).execute();
}

/** Removes an account from the lists of accounts that may push to protected branches and tags. */
async function removeFromProtections(transaction: Kysely<Tables>, account: string): Promise<void> {
  const rows = await transaction
    .selectFrom('protections')
    .select(['id', 'options'])
    .where('options', 'like', buildCandidatePattern(JSON.stringify(account)))
    .execute();
  for (const { id, options } of rows) {
    const fields = Object.entries(JSON.parse(options) as Record<string, unknown>);
    const remaining = fields.map(([key, value]) => [
      key,
      Array.isArray(value) && key.includes('username') ? value.filter((name) => name !== account) : value,
    ]);
    const set = { options: JSON.stringify(Object.fromEntries(remaining)) };
    await transaction.updateTable('protections').set(set).where('id', '=', id).execute();
  }
  for (const { id, accounts } of await transaction.selectFrom('tag_protections').select(['id', 'accounts']).execute()) {
    const names = JSON.parse(accounts) as readonly string[];
    if (!names.includes(account)) continue;
    const set = { accounts: JSON.stringify(names.filter((name) => name !== account)) };
    await transaction.updateTable('tag_protections').set(set).where('id', '=', id).execute();
  }
}
