import { Worker } from 'node:worker_threads';
import { Problem } from '../../../services/contracts/problem.ts';
import type { BackupJob, BackupOutcome, BackupSummary } from './write.ts';

/** The packed app has no types in it, and other file names. */
const workerFile = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/**
 * Writes a backup on a thread of its own: copying databases and adding up hashes would hold up everybody's requests.
 * @throws what `writeBackup` throws.
 */
export async function writeBackupBeside(job: BackupJob): Promise<BackupSummary> {
  const { promise, resolve, reject } = Promise.withResolvers<BackupOutcome>();
  const worker = new Worker(workerFile, { name: 'backup', workerData: job, execArgv: [] });
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the thread ended without a backup')));
  const outcome = await promise;
  if ('summary' in outcome) return outcome.summary;
  const { code, status, detail, ...options } = outcome.problem;
  throw new Problem(code, status, detail, options);
}
