import type { AccountData } from '../contracts/control/account-data.ts';
import type { RouteDependencies } from './components.ts';
import { cleanMergeAreas } from './pulls/merge-area.ts';
import { reconcileRestored } from './repositories/backup.ts';
import { removeOrphanedBlobs } from './repositories/repository-blobs.ts';
import type { Owners } from './repositories/owners.ts';

/** Repairs unfinished work of an interrupted run or a restored backup. */
export async function recover({
  context,
  storage,
  collaboration,
  pushControl: { pushes },
  webhooks,
  features: { lfs, portable },
}: RouteDependencies): Promise<void> {
  const { db, git, folder, manager } = storage;
  const { merges, pulls } = collaboration;
  await reconcileRestored({ context, git }, folder);
  await manager.removeStale(db);
  const cleanup = removeOrphanedBlobs(context, db);
  // A shared store that does not respond must not delay the start.
  if (context.blobs.getPath('lfs') !== undefined) await cleanup;
  await cleanMergeAreas(context.files);
  await lfs.clean();
  await portable.clean();
  await pushes.recover();
  await merges.removeUnfinished();
  await webhooks.hooks.sealAddresses();
  await pulls.recover();
}

/** Renames the data of accounts that were removed while the service was stopped. */
export async function releaseAbandoned(owners: Owners, accountData: AccountData): Promise<void> {
  for (const account of await owners.listAbandoned()) {
    await accountData.release(account, { action: 'keep', as: `${account} (removed)` });
  }
}
