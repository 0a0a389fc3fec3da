import { rmdir } from 'node:fs/promises';
import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { formatLocation } from '../domain/location.ts';
import type { Engine } from '../engine/engine.ts';
import { getReplacedFilesFolder } from '../domain/replaced-files.ts';
import type { JobRow, JobStore } from '../store/jobs.ts';
import type { Settings } from '../settings.ts';
import type { TaskStore } from '../store/tasks.ts';
import { listTrashFolders, parseTrashRecord, type Trash } from '../files/trash.ts';
import { isLocal } from './local-job.ts';
import { purge } from './purge.ts';

const hourMs = 3_600_000;

interface CleanupCollaborators {
  readonly context: Context;
  readonly engine: Engine;
  readonly runs: JobStore;
  readonly settings: Readonly<Pick<Settings, 'keepDays' | 'keepReplacedDays'>>;
  readonly taskStore: TaskStore;
  readonly trash: Trash;
}

/** Deletes expired replaced files and expired history every hour. */
export function startCleanup({ context, engine, runs, settings, taskStore, trash }: CleanupCollaborators): Disposable {
  return context.clock.every(hourMs, () => {
    const { keepDays, keepReplacedDays } = settings;
    deleteExpired({
      context,
      runs,
      taskStore,
      purge: (location) => purge(context, engine, location),
      emptyTrash: (row) => emptyTrash(context, engine, trash, row),
      keepDays,
      keepReplacedDays,
    }).catch((error: unknown) => context.log.error('history cleanup failed', { error }));
  });
}

/** Deletes the files of a deletion from the trash, and the trash folders unless they contain other files. */
async function emptyTrash(context: Context, engine: Engine, trash: Trash, row: JobRow): Promise<void> {
  const record = parseTrashRecord(row.input);
  for (const folder of record === undefined ? [] : listTrashFolders(record)) {
    await purge(context, engine, folder);
    await removeEmptyFolder(engine, folder.slice(0, folder.lastIndexOf('/')));
  }
  await trash.setEmptied(row);
}

/** Removes a folder unless it contains files or is missing. */
async function removeEmptyFolder(engine: Engine, location: string): Promise<void> {
  if (isLocal(location)) await rmdir(location).catch(() => undefined);
  else await engine.call('operations/rmdir', { fs: location, remote: '' });
}

export interface CleanupOptions {
  readonly context: Pick<Context, 'clock' | 'commit' | 'log'>;
  readonly runs: JobStore;
  readonly taskStore: TaskStore;
  /** Deletes a folder with replaced files. */
  readonly purge: (folder: string) => Promise<void>;
  /** Deletes the files of a deletion from the trash. */
  readonly emptyTrash: (row: JobRow) => Promise<void>;
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
        const reason = error instanceof Problem ? { reason: error.message } : { error };
        context.log.warn('deletion of replaced files failed', { job: row.id, ...reason });
      }
    }
    if (rows.length < batchSize) break;
  }
  await context.commit((transaction) => runs.deleteOld(transaction, now - options.keepDays * dayMs));
}

async function deleteReplacedFiles(options: CleanupOptions, row: JobRow): Promise<void> {
  const { context, runs, taskStore, purge } = options;
  if (row.kind === 'files/delete') return await options.emptyTrash(row);
  const { at, ...input } = JSON.parse(row.input) as { readonly at?: string };
  const task = row.task_id === null ? undefined : await taskStore.find(row.task_id);
  const isSame = task !== undefined && formatLocation(task.fields.destination) === row.destination;
  // Replaced files of a deleted task stay, because their deletion was not requested.
  const folder = isSame ? getReplacedFilesFolder(at ?? row.destination, row.id, hasWindowsPaths()) : undefined;
  if (folder !== undefined) await purge(folder);
  await context.commit((transaction) => runs.setInput(transaction, row.id, { ...input, at, keepReplaced: false }));
}
