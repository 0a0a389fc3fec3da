import { parentPort, workerData } from 'node:worker_threads';
import type { Manifest } from './archive.ts';
import { unpackStaged } from './restore.ts';
import { problemForThread, type ThreadProblem } from './thread-problem.ts';
import { readBackup } from './unpack.ts';

/** Backup to read, and the data folder to stage it in, if any. */
export interface ReadJob {
  readonly file: string;
  readonly stageIn?: string;
}

export type ReadOutcome = { readonly manifest: Manifest } | { readonly problem: ThreadProblem };

async function outcome({ file, stageIn }: ReadJob): Promise<ReadOutcome> {
  try {
    return { manifest: await (stageIn === undefined ? readBackup(file) : unpackStaged(stageIn, file)) };
  } catch (error) {
    return { problem: problemForThread(error) };
  }
}

parentPort?.postMessage(await outcome(workerData as ReadJob));
