import type { Context } from '../../contracts/service.ts';
import { buildPlan } from '../domain/plan.ts';
import { parseLocation } from '../domain/location.ts';
import type { Job, JobOutcome } from '../jobs/job.ts';
import { localMover } from './local-mover.ts';
import { LocalTotals } from './local-totals.ts';
import type { Mover } from './mover.ts';

/** Returns true if all locations are local folders, so that rclone is not needed. */
export function isLocal(...places: readonly unknown[]): boolean {
  return places.every((place) => parseLocation(place, process.platform === 'win32').kind === 'local');
}

/** Creates the built-in mover, which counts like rclone. */
export function localMoverFor(job: Job, { clock, random }: Pick<Context, 'clock' | 'random'>): Mover {
  const totals = new LocalTotals(clock, job.startedAt);
  job.local = totals;
  return localMover(random, (event) => {
    totals.note(event);
    if (event.kind === 'failed') {
      job.addError({ name: event.path, error: event.error, what: '', size: -1, at: clock.now() });
    }
  });
}

/** Executes a client's `sync/copy` or `sync/sync` without rclone. */
export async function localSync(
  job: Job,
  context: Pick<Context, 'clock' | 'random'>,
  { mode, source, destination }: { mode: 'sync' | 'copy'; source: string; destination: string },
): Promise<JobOutcome> {
  const mover = localMoverFor(job, context);
  const options = { group: job.engineGroup, exclude: [], signal: job.stopping.signal };
  const copied = await mover.copy(source, destination, undefined, options);
  if (copied.status !== 200 || mode === 'copy') return copied;
  const plan = buildPlan(await mover.list(source, options), await mover.list(destination, options), mode);
  const removed = await mover.remove(destination, plan.deletes, undefined, options);
  if (removed.status !== 200) return removed;
  await mover.removeFolders(destination, plan.deleteFolders, options);
  return { status: 200, body: {} };
}
