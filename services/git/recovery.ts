import type { Context } from '../contracts/service.ts';
import type { AccountData } from '../contracts/control/account-data.ts';
import type { RouteDependencies } from './components.ts';
import { cleanMergeAreas } from './pulls/merge-area.ts';
import { reconcileRestored } from './repositories/backup.ts';
import { removeOrphanedBlobs } from './repositories/repository-blobs.ts';
import type { Owners } from './repositories/owners.ts';
import { removeLocks } from './repositories/stale-files.ts';
import { StaleRepositories } from './repositories/stale-repositories.ts';
import type { RepositoryStorage } from './repositories/storage.ts';

/** Repairs unfinished work of an interrupted run or a restored backup, and of ended hosts. */
export async function recover({
  context,
  storage,
  collaboration,
  pushControl: { recovery },
  webhooks,
  features: { lfs, portable },
}: RouteDependencies): Promise<void> {
  const { db, folder, git, repositoriesFolder } = storage;
  const { merges, pulls } = collaboration;
  await reconcileRestored({ context, git }, folder);
  // If other hosts use the same repositories, one of them removes stale ones.
  if (context.singleHost) {
    const { mayBeMissing, path: root } = repositoriesFolder;
    await new StaleRepositories({ context, mayBeMissing, root }).remove();
    await removeStaleLocks(context, storage);
  }
  const cleanup = removeOrphanedBlobs(context, db);
  // A shared store that does not respond must not delay the start.
  if (context.blobs.getPath('lfs') !== undefined) await cleanup;
  await cleanMergeAreas(context.files);
  await lfs.clean();
  await portable.clean();
  await recovery.run();
  await merges.removeUnfinished();
  await webhooks.hooks.sealAddresses();
  await pulls.recover();
}

/** Removes the locks of maintenance commands. The processes of the killed host have ended. */
async function removeStaleLocks({ log }: Pick<Context, 'log'>, { db, folder }: RepositoryStorage): Promise<void> {
  for (const row of await db.selectFrom('repositories').select('folder').execute()) {
    await removeLocks(folder(row)).catch((error: unknown) =>
      log.warn('stale repository lock could not be removed', { error }),
    );
  }
}

/** Renames the data of accounts that were removed while the service was stopped. */
export async function releaseAbandoned(owners: Owners, accountData: AccountData): Promise<void> {
  for (const account of await owners.listAbandoned()) {
    await accountData.release(account, { action: 'keep', as: `${account} (removed)` });
  }
}
