import { Worker } from 'node:worker_threads';
import { Problem } from '../../../services/contracts/problem.ts';
import { getThreadFile } from '../../../services/kit/limited-thread.ts';
import type { ReadJob, ReadOutcome } from './read-worker.ts';
import { problemFromThread } from './thread-problem.ts';
import type { UnpackedBackup } from './unpack.ts';
import type { BackupJob, BackupOutcome, BackupSummary, ServicePart, ServicePartWritten } from './write.ts';

/**
 * Writes a backup in a separate thread, since copying databases and hashing would block the event loop. Services
 * write their own parts here when the thread requests them.
 * @throws the errors of `writeBackup`, and the Problem of a service that could not write its part.
 */
export async function writeBackupInThread(
  job: Omit<BackupJob, 'parts'>,
  parts: readonly ServicePart[],
): Promise<BackupSummary> {
  const { promise, resolve, reject } = Promise.withResolvers<Exclude<BackupOutcome, { part: string }>>();
  const workerData: BackupJob = {
    ...job,
    parts: parts.map(({ id, excludedFromCopy }) => ({ id, excludedFromCopy })),
  };
  let serviceFailure: unknown;
  const worker = startThread(getThreadFile('worker', import.meta.url), workerData, reject);
  worker.on('message', (message: BackupOutcome) => {
    if (!('part' in message)) return void resolve(message);
    const written = (failure?: unknown): void => worker.postMessage({ failure } satisfies ServicePartWritten);
    const request = parts.find(({ id }) => id === message.part);
    (request?.write(message.folder) ?? Promise.resolve()).then(
      () => written(),
      (error: unknown) => {
        serviceFailure = error;
        written(error);
      },
    );
  });
  const outcome = await promise;
  if ('summary' in outcome) return outcome.summary;
  // The thread receives only the message of the Problem, without its text in the language of the reader.
  if (serviceFailure instanceof Problem) throw serviceFailure;
  throw problemFromThread(outcome.problem);
}

/**
 * Reads a backup in a separate thread, or unpacks it beside the data.
 * @throws the errors of `readBackup` and `unpackStaged`.
 */
export async function readBackupInThread(job: ReadJob): Promise<UnpackedBackup> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadOutcome>();
  startThread(getThreadFile('read-worker', import.meta.url), job, reject).once('message', resolve);
  const outcome = await promise;
  if ('manifest' in outcome) return outcome;
  throw problemFromThread(outcome.problem);
}

function startThread(file: URL, workerData: unknown, reject: (error: unknown) => void): Worker {
  const worker = new Worker(file, { name: 'backup', workerData, execArgv: [] });
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the thread ended without an answer')));
  return worker;
}
