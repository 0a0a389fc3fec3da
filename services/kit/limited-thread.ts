import { Worker, type TransferListItem } from 'node:worker_threads';
import type { Clock } from '../contracts/service.ts';

/** The thread had no answer in time and was ended. */
export class ThreadTooSlow extends Error {
  override readonly name = 'ThreadTooSlow';
}

interface ThreadOptions {
  readonly clock: Clock;
  readonly workerData: unknown;
  /** What moves over instead of being copied. */
  readonly transferList?: readonly TransferListItem[];
  readonly memoryMb: number;
  readonly limitMs: number;
}

/** A thread's file beside the one that starts it. The packed app has no types in it, and other file names. */
export function threadFile(name: string, from: string): URL {
  return new URL(`./${name}.${from.endsWith('.ts') ? 'ts' : 'js'}`, from);
}

/**
 * The one message of a thread, which is ended with it: for work that somebody from outside can make long.
 * @throws ThreadTooSlow; Error when it ends without an answer or takes more memory; what it throws.
 */
export async function askThread<Answer>(file: URL, options: ThreadOptions): Promise<Answer> {
  const { clock, workerData, transferList = [], memoryMb, limitMs } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const worker = new Worker(file, {
    workerData,
    transferList: [...transferList],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    execArgv: [],
  });
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the thread ended without an answer')));
  using _limit = clock.after(limitMs, () => reject(new ThreadTooSlow('the thread took too long')));
  try {
    return await promise;
  } finally {
    await worker.terminate();
  }
}
