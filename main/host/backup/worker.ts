import { parentPort, workerData } from 'node:worker_threads';
import { Problem } from '../../../services/contracts/problem.ts';
import { writeBackup, type BackupJob, type BackupOutcome } from './write.ts';

const { dataDir, file, tables } = workerData as BackupJob;

async function outcome(): Promise<BackupOutcome> {
  try {
    return { summary: await writeBackup(dataDir, file, { tables }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, status, detail, retryable, cause } = error;
    return { problem: { code, status, detail, retryable, cause } };
  }
}

parentPort?.postMessage(await outcome());
