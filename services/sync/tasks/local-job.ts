import type { Context } from '../../contracts/service.ts';
import { addStats } from '../domain/stats.ts';
import { planOf } from '../domain/plan.ts';
import { readPlace } from '../domain/place.ts';
import type { Job, JobOutcome } from '../jobs/job.ts';
import { localMover } from './local-mover.ts';
import type { Mover } from './mover.ts';

/** Whether both ends are folders of this computer, so that rclone is not needed. */
export function isLocal(...places: readonly unknown[]): boolean {
  return places.every((place) => readPlace(place, process.platform === 'win32').kind === 'local');
}

/** What we have ourselves; it counts for the job. */
export function localMoverFor(job: Job, { clock, random }: Pick<Context, 'clock' | 'random'>): Mover {
  const total = { bytes: 0, transfers: 0, deletes: 0, errors: 0 };
  const count = (change: Partial<typeof total>): void => {
    for (const key of ['bytes', 'transfers', 'deletes', 'errors'] as const) total[key] += change[key] ?? 0;
    const elapsedTime = (clock.now() - job.startedAt) / 1000;
    job.stats = { ...addStats([{ ...total, totalBytes: total.bytes, totalTransfers: total.transfers, elapsedTime }]) };
  };
  count({});
  return localMover(random, {
    copied: (bytes) => count({ bytes, transfers: 1 }),
    removed: () => count({ deletes: 1 }),
    failed(name, error) {
      count({ errors: 1 });
      job.noteError({ name, error, what: '', size: -1, at: clock.now() });
    },
  });
}

/** `sync/copy` and `sync/sync` as a client asks for them, without rclone. */
export async function localSync(
  job: Job,
  context: Pick<Context, 'clock' | 'random'>,
  { mode, source, destination }: { mode: 'sync' | 'copy'; source: string; destination: string },
): Promise<JobOutcome> {
  const mover = localMoverFor(job, context);
  const options = { group: job.engineGroup, exclude: [], signal: job.stopping.signal };
  const copied = await mover.copy(source, destination, undefined, options);
  if (copied.status !== 200 || mode === 'copy') return copied;
  const plan = planOf(await mover.list(source, options), await mover.list(destination, options), mode);
  const removed = await mover.remove(destination, plan.deletes, undefined, options);
  if (removed.status !== 200) return removed;
  await mover.removeFolders(destination, plan.deleteFolders, options);
  return { status: 200, body: {} };
}
