import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { formatLocation } from '../domain/location.ts';
import type { Engine } from '../engine/engine.ts';
import { getReplacedFilesFolder } from '../domain/replaced-files.ts';
import type { JobRow, JobStore } from '../store/jobs.ts';
import type { Settings } from '../settings.ts';
import type { TaskStore } from '../store/tasks.ts';
import { purge } from './purge.ts';

const hourMs = 3_600_000;

interface CleanupCollaborators {
  readonly context: Context;
  readonly engine: Engine;
  readonly runs: JobStore;
  readonly settings: Readonly<Pick<Settings, 'keepDays' | 'keepReplacedDays'>>;
  readonly taskStore: TaskStore;
}

/** Deletes expired replaced files and expired history every hour. */
export function startCleanup({ context, engine, runs, settings, taskStore }: CleanupCollaborators): Disposable {
  return context.clock.every(hourMs, () => {
    const { keepDays, keepReplacedDays } = settings;
    deleteExpired({
      context,
      runs,
      taskStore,
      purge: (location) => purge(context, engine, location),
      keepDays,
      keepReplacedDays,
    }).catch((error: unknown) => context.log.error('history cleanup failed', { error }));
  });
}

export interface CleanupOptions {
  readonly context: Pick<Context, 'clock' | 'commit' | 'log'>;
  readonly runs: JobStore;
  readonly taskStore: TaskStore;
  /** Deletes a folder with replaced files. */
  readonly purge: (folder: string) => Promise<void>;
  readonly keepDays: number;
  readonly keepReplacedDays: number;
}

const dayMs = 86_400_000;
const batchSize = 20;

/** Deletes expired replaced files and expired history. */
export async function deleteExpired(options: CleanupOptions): Promise<void> {
  const { context, runs } = options;
  const now = context.clock.now();
  let [purgedCount, lastId] = [0, 0];
  while (purgedCount < batchSize) {
    const rows = await runs.listWithReplacedFiles(now - options.keepReplacedDays * dayMs, lastId, batchSize);
    for (const row of rows) {
      lastId = row.id;
      try {
        await deleteReplacedFiles(options, row);
        purgedCount += 1;
      } catch (error) {
        // An unreachable location must not prevent the cleanup of others.
        const reason = error instanceof Problem ? { reason: error.detail } : { error };
        context.log.warn('deletion of replaced files failed', { job: row.id, ...reason });
      }
    }
    if (rows.length < batchSize) break;
  }
  await context.commit((transaction) => runs.deleteOld(transaction, now - options.keepDays * dayMs));
}

async function deleteReplacedFiles({ context, runs, taskStore, purge }: CleanupOptions, row: JobRow): Promise<void> {
  const { at, ...input } = JSON.parse(row.input) as { readonly at?: string };
  const task = row.task_id === null ? undefined : await taskStore.find(row.task_id);
  const isSame = task !== undefined && formatLocation(task.fields.destination) === row.destination;
  // Replaced files of a deleted task stay, because their deletion was not requested.
  const folder = isSame ? getReplacedFilesFolder(at ?? row.destination, row.id, hasWindowsPaths()) : undefined;
  if (folder !== undefined) await purge(folder);
  await context.commit((transaction) => runs.setInput(transaction, row.id, { ...input, at, keepReplaced: false }));
}
