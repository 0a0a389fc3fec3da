import { Worker } from 'node:worker_threads';
import { getThreadFile } from '../../../services/kit/limited-thread.ts';
import type { Manifest } from './archive.ts';
import type { ReadJob, ReadOutcome } from './read-worker.ts';
import { problemFromThread } from './thread-problem.ts';
import type { BackupJob, BackupOutcome, BackupSummary, OwnPart, OwnPartWritten } from './write.ts';

/**
 * Writes a backup on a thread of its own: copying databases and adding up hashes would hold up everybody's requests. What
 * services save themselves they write here, when the thread has come to it.
 * @throws what `writeBackup` throws.
 */
export async function writeBackupBeside(
  job: Omit<BackupJob, 'parts'>,
  parts: readonly OwnPart[],
): Promise<BackupSummary> {
  const { promise, resolve, reject } = Promise.withResolvers<Exclude<BackupOutcome, { part: string }>>();
  const workerData: BackupJob = { ...job, parts: parts.map(({ id, uncopied }) => ({ id, uncopied })) };
  const worker = startThread('worker', workerData, reject);
  worker.on('message', (message: BackupOutcome) => {
    if (!('part' in message)) return void resolve(message);
    const written = (failure?: unknown): void => worker.postMessage({ failure } satisfies OwnPartWritten);
    const asked = parts.find(({ id }) => id === message.part);
    (asked?.write(message.folder) ?? Promise.resolve()).then(() => written(), written);
  });
  const outcome = await promise;
  if ('summary' in outcome) return outcome.summary;
  throw problemFromThread(outcome.problem);
}

/**
 * Reads a backup on a thread of its own, or stages it for the next start.
 * @throws what `readBackup` and `stageRestore` throw.
 */
export async function readBackupBeside(job: ReadJob): Promise<Manifest> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadOutcome>();
  startThread('read-worker', job, reject).once('message', resolve);
  const outcome = await promise;
  if ('manifest' in outcome) return outcome.manifest;
  throw problemFromThread(outcome.problem);
}

function startThread(name: string, workerData: unknown, reject: (error: unknown) => void): Worker {
  const worker = new Worker(getThreadFile(name, import.meta.url), { name: 'backup', workerData, execArgv: [] });
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the thread ended without an answer')));
  return worker;
}
