import { Worker } from 'node:worker_threads';
import { Problem } from '../../../services/contracts/problem.ts';
import { threadFile } from '../../../services/kit/limited-thread.ts';
import type { BackupJob, BackupOutcome, BackupSummary, OwnPart, OwnPartWritten } from './write.ts';

const workerFile = threadFile('worker', import.meta.url);

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
  const worker = new Worker(workerFile, { name: 'backup', workerData, execArgv: [] });
  worker.on('message', (message: BackupOutcome) => {
    if (!('part' in message)) return void resolve(message);
    const written = (failure?: unknown): void => worker.postMessage({ failure } satisfies OwnPartWritten);
    const asked = parts.find(({ id }) => id === message.part);
    (asked?.write(message.folder) ?? Promise.resolve()).then(() => written(), written);
  });
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the thread ended without a backup')));
  const outcome = await promise;
  if ('summary' in outcome) return outcome.summary;
  const { code, status, detail, ...options } = outcome.problem;
  throw new Problem(code, status, detail, options);
}
