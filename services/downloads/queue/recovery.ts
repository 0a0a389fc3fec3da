import { sep } from 'node:path';
import type { Context } from '../../contracts/service.ts';
import { removeCopies } from '../engine/file-delivery.ts';
import { isRunning, signalGroup } from '../../kit/process-group.ts';
import type { Folders } from '../run/folders.ts';
import type { Live } from './live-updates.ts';
import type { Runs } from '../run/active-runs.ts';
import { DownloadStore, type Holder } from '../store/store.ts';

interface Parts {
  readonly context: Context;
  readonly folders: Folders;
  readonly live: Live;
  readonly runs: Pick<Runs, 'has'>;
}

/**
 * Puts back what a host that is gone was working on, at its old place, once its extractor is gone too. `self` is this
 * process; at its start nothing of its own runs yet.
 */
export async function recover({ context, live, runs }: Parts, self: Holder, starting: boolean): Promise<void> {
  for (const { item, holder, leaseUntil, child } of await new DownloadStore(context.db).running()) {
    const here = holder === undefined || holder.machine === self.machine;
    const own = here && holder?.process === self.process;
    const believed = leaseUntil > context.clock.now();
    // Rows of our own without a run are new ones, or could not be written when their run ended: the lease tells which.
    // With one they live, also when this machine has slept past their lease.
    const alive = own ? runs.has(item.uid) || (!starting && believed) : here ? await runsStill(holder) : believed;
    if (alive) continue;
    if (here && child !== null && (await isRunning(child))) signalGroup(Number.parseInt(child, 10), 'SIGKILL');
    context.log.info('download goes back into the queue', { uid: item.uid, was: item.state });
    const back = await context.commit(async (db) => await new DownloadStore(db).release(item.uid));
    if (back !== undefined) live.changed(back);
  }
}

/** Removes the folders, and in the download folder the copies, that a crash left of downloads that need them no more. */
export async function tidy({ context, folders }: Parts): Promise<void> {
  const store = new DownloadStore(context.db);
  await folders.clean(async (uid) => {
    const item = await store.find(uid);
    if (item === undefined) return false;
    if (item.state !== 'finished') return true;
    if (item.filename !== null) await removeCopies([folders.rootOf(item.order), item.filename].join(sep), uid);
    return false;
  });
}

async function runsStill(holder: Holder | undefined): Promise<boolean> {
  return holder !== undefined && (await isRunning(holder.process));
}
