import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import type { Context } from '../../contracts/service.ts';
import { buildPlan } from '../domain/plan.ts';
import { parseLocation } from '../domain/location.ts';
import type { Job, JobOutcome } from '../jobs/job.ts';
import { LocalMover } from './local-mover.ts';
import { LocalTotals } from './local-totals.ts';
import type { Mover } from './mover.ts';

/** Returns true if all locations are local folders, so that rclone is not needed. */
export function isLocal(...locations: readonly unknown[]): boolean {
  return locations.every((location) => parseLocation(location, hasWindowsPaths()).kind === 'local');
}

/** Creates the built-in mover, which counts like rclone. */
export function createLocalMover(job: Job, { clock, random }: Pick<Context, 'clock' | 'random'>): Mover {
  const totals = new LocalTotals(clock, job.startedAt);
  job.local = totals;
  return new LocalMover(random, (event) => {
    totals.addEvent(event);
    if (event.kind === 'failed') {
      const { path: name, error, code, parameters } = event;
      job.addError({ name, error, code, parameters, what: '', size: -1, at: clock.now() });
    }
  });
}

/** Executes a client's `sync/copy` or `sync/sync` without rclone. */
export async function runLocalSync(
  job: Job,
  context: Pick<Context, 'clock' | 'random'>,
  { mode, source, destination }: { mode: 'sync' | 'copy'; source: string; destination: string },
): Promise<JobOutcome> {
  const mover = createLocalMover(job, context);
  const options = { group: job.engineGroup, exclude: [], signal: job.stopping.signal };
  const copyOutcome = await mover.copy(source, destination, undefined, options);
  if (copyOutcome.status !== 200 || mode === 'copy') return copyOutcome;
  const plan = buildPlan(await mover.list(source, options), await mover.list(destination, options), mode);
  const removeOutcome = await mover.remove(destination, plan.deletes, undefined, options);
  if (removeOutcome.status !== 200) return removeOutcome;
  await mover.removeFolders(destination, plan.deleteFolders, options);
  return { status: 200, body: {} };
}
