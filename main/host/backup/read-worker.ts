import { parentPort, workerData } from 'node:worker_threads';
import { unpackStaged } from './restore.ts';
import { problemForThread, type ThreadProblem } from './thread-problem.ts';
import { readBackup, type UnpackedBackup } from './unpack.ts';

/** Backup to read, and the data folder to stage it in, if any. */
export interface ReadJob {
  readonly file: string;
  readonly stageIn?: string;
}

export type ReadOutcome = UnpackedBackup | { readonly problem: ThreadProblem };

async function outcome({ file, stageIn }: ReadJob): Promise<ReadOutcome> {
  try {
    if (stageIn !== undefined) return await unpackStaged(stageIn, file);
    return { manifest: await readBackup(file), renamed: [] };
  } catch (error) {
    return { problem: await problemForThread(error) };
  }
}

parentPort?.postMessage(await outcome(workerData as ReadJob));
