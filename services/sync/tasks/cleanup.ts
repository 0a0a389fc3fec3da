import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { formatLocation } from '../domain/location.ts';
import { getReplacedFilesFolder } from '../domain/replaced-files.ts';
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

/** Deletes expired replaced files and expired history. */
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
        // An unreachable location must not prevent the cleanup of others.
        const reason = error instanceof Problem ? { reason: error.detail } : { error };
        context.log.warn('deletion of replaced files failed', { job: row.id, ...reason });
      }
    }
    if (rows.length < atOnce) break;
  }
  await context.commit((transaction) => runs.forget(transaction, now - parts.keepDays * dayMs));
}

async function forgetReplaced({ context, runs, taskStore, purge }: UpkeepParts, row: JobRow): Promise<void> {
  const { at, ...input } = JSON.parse(row.input) as { readonly at?: string };
  const task = row.task_id === null ? undefined : await taskStore.find(row.task_id);
  const isSame = task !== undefined && formatLocation(task.fields.destination) === row.destination;
  // Replaced files of a deleted task stay, because their deletion was not requested.
  const place = isSame
    ? getReplacedFilesFolder(at ?? row.destination, row.id, process.platform === 'win32')
    : undefined;
  if (place !== undefined) await purge(place);
  await context.commit((transaction) => runs.setInput(transaction, row.id, { ...input, at, keepReplaced: false }));
}
