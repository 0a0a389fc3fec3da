import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { problemForThread } from './thread-problem.ts';
import { writeBackup, type BackupJob, type BackupOutcome, type ServicePart, type ServicePartWritten } from './write.ts';

const { dataDir, file, tables, createdAt, keyFile, parts } = workerData as BackupJob;

async function outcome(): Promise<BackupOutcome> {
  try {
    return { summary: await writeBackup(dataDir, file, { tables, createdAt, keyFile, parts: parts.map(requestPart) }) };
  } catch (error) {
    return { problem: await problemForThread(error) };
  }
}

/** The service that writes the part runs in the main thread. */
function requestPart({ id, excludedFromCopy: excludedFromCopy }: BackupJob['parts'][number]): ServicePart {
  return {
    id,
    excludedFromCopy: excludedFromCopy,
    async write(folder) {
      if (parentPort === null) throw new Error('a backup is written in a thread');
      const answer = once(parentPort, 'message') as Promise<[ServicePartWritten]>;
      parentPort.postMessage({ part: id, folder } satisfies BackupOutcome);
      const [{ failure }] = await answer;
      if (failure !== undefined) throw new Error('a service could not save its part', { cause: failure });
    },
  };
}

parentPort?.postMessage(await outcome());
