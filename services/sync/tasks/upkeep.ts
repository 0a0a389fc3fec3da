import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { shownPlace } from '../domain/location.ts';
import { replacedPlace } from '../domain/replaced-files.ts';
import type { JobRow, JobStore } from '../store/jobs.ts';
import type { TaskStore } from '../store/tasks.ts';

export interface UpkeepParts {
  readonly context: Pick<Context, 'clock' | 'commit' | 'log'>;
  readonly runs: JobStore;
  readonly taskStore: TaskStore;
  readonly purge: (place: string) => Promise<void>;
  readonly keepDays: number;
  readonly keepReplacedDays: number;
}

const dayMs = 86_400_000;
const atOnce = 20;

/** Removes what was replaced long ago, and the history that is older than it is kept. */
export async function forgetOld(parts: UpkeepParts): Promise<void> {
  const { context, runs } = parts;
  const now = context.clock.now();
  let [purged, last] = [0, 0];
  while (purged < atOnce) {
    const rows = await runs.withReplaced(now - parts.keepReplacedDays * dayMs, last, atOnce);
    for (const row of rows) {
      last = row.id;
      try {
        await forgetReplaced(parts, row);
        purged += 1;
      } catch (error) {
        // A place that cannot be reached must not keep the others from being cleaned.
        const reason = error instanceof Problem ? { reason: error.detail } : { error };
        context.log.warn('what a sync has replaced could not be removed yet', { job: row.id, ...reason });
      }
    }
    if (rows.length < atOnce) break;
  }
  await context.commit((transaction) => runs.forget(transaction, now - parts.keepDays * dayMs));
}

async function forgetReplaced({ context, runs, taskStore, purge }: UpkeepParts, row: JobRow): Promise<void> {
  const { at, ...input } = JSON.parse(row.input) as { readonly at?: string };
  const task = row.task_id === null ? undefined : await taskStore.find(row.task_id);
  const isSame = task !== undefined && shownPlace(task.fields.destination) === row.destination;
  // Of a sync that is no longer there, what it kept stays: nobody has said that it may go.
  const place = isSame ? replacedPlace(at ?? row.destination, row.id, process.platform === 'win32') : undefined;
  if (place !== undefined) await purge(place);
  await context.commit((transaction) => runs.setInput(transaction, row.id, { ...input, at, keepReplaced: false }));
}
