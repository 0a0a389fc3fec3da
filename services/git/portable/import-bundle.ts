import * as m from '#messages/git-problems';
import { stat } from 'node:fs/promises';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import type { Git } from '../engine/git.ts';
import { findUnstorableInSource } from '../repositories/reference-names.ts';
import { buildInvalidBackupProblem } from './invalid-backup.ts';

/**
 * Fetches all references of a bundle into an empty repository. The bundle of an empty repository does not exist.
 * @throws Problem `git.bad_backup` (422) when this system cannot store two of the references beside each other. Git
 * would replace one of them by the other.
 */
export async function importBundle(
  git: Pick<Git, 'lines' | 'run'>,
  bundle: string,
  folder: string,
  platform: NodeJS.Platform = currentPlatform,
): Promise<void> {
  if ((await stat(bundle).catch(() => undefined)) === undefined) return;
  const environment = { GIT_ALLOW_PROTOCOL: 'file' };
  const unstorable = await findUnstorableInSource(git, folder, bundle, { environment }, platform);
  if (unstorable !== undefined) throw buildInvalidBackupProblem(m.backupUnstorable({ reason: unstorable }));
  const args = ['fetch', '--quiet', '--no-auto-gc', '--no-write-fetch-head', '--', bundle, '+refs/*:refs/*'];
  const config = ['transfer.fsckObjects=false'];
  await git.run(folder, args, { longRunning: true, config, environment });
  // Some versions of git do not check the objects of a bundle, and others reject tolerated objects.
  await git.run(folder, ['fsck', '--strict', '--no-dangling', '--no-progress'], { longRunning: true });
}
