import { sep } from 'node:path';
import type { Context } from '../../contracts/service.ts';
import { removeCopies } from '../engine/deliver.ts';
import { isRunning, signalGroup } from '../../kit/process-group.ts';
import type { Folders } from '../run/folders.ts';
import type { Live } from './live.ts';
import type { Runs } from '../run/runs.ts';
import { DownloadStore, type Holder } from '../store/store.ts';

interface Parts {
  readonly context: Context;
  readonly folders: Folders;
  readonly live: Live;
  readonly runs: Pick<Runs, 'has'>;
}

/** Number of times that a download may have been started when Homeport finds it running at its own start. */
const maxAttemptsAtStart = 5;

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
    if (starting && item.attempts >= maxAttemptsAtStart) {
      await stop({ context, live }, item.uid);
      continue;
    }
    context.log.info('download goes back into the queue', { uid: item.uid, was: item.state });
    const back = await context.commit(async (db) => await new DownloadStore(db).release(item.uid));
    if (back !== undefined) live.changed(back);
  }
}

/** Ends a download that was running each time Homeport ended, so that it cannot end it at every start. */
async function stop({ context, live }: Pick<Parts, 'context' | 'live'>, uid: string): Promise<void> {
  const message = 'Homeport stopped working several times while this was downloaded. Retry it when that is fixed.';
  context.log.error('download stopped after repeated crashes', { uid });
  const ended = await context.commit(async (db) =>
    new DownloadStore(db).finish(uid, context.clock.now(), { state: 'failed', message, attempts: 0 }),
  );
  if (ended !== undefined) live.changed(ended);
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
