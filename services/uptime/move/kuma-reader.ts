import { Worker } from 'node:worker_threads';
import { Problem } from '../../contracts/problem.ts';
import { threadFile } from '../../kit/limited-thread.ts';
import type { Holding } from './backup.ts';
import type { FromKuma, ToKuma } from './kuma-messages.ts';

const workerFile = threadFile('kuma-worker', import.meta.url);
/** What is set and a monitor's history may take in the thread. */
const memoryMb = 512;

/** A `kuma.db`, read in a thread of its own until it is disposed. @throws Problem `uptime.no_backup` (400) */
export async function openKuma(file: string): Promise<AsyncDisposable & { readonly holding: Holding }> {
  const worker = new Worker(workerFile, {
    workerData: { file },
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    execArgv: [],
  });
  const close = async (): Promise<void> => void (await worker.terminate());
  try {
    const told = await nextOf(worker);
    if (told.kind !== 'holding') {
      throw new Problem('uptime.no_backup', 400, told.kind === 'refused' ? told.detail : 'It holds nothing.');
    }
    const past: Holding['past'] = async (monitor, now) => {
      const answer = nextOf(worker);
      worker.postMessage({ monitor, now } satisfies ToKuma);
      const found = await answer;
      if (found.kind !== 'past') throw new Error('the thread told something else');
      return found.past;
    };
    return { holding: { ...told.holding, past }, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Its next message. @throws what ended it */
async function nextOf(worker: Worker): Promise<FromKuma> {
  const { promise, resolve, reject } = Promise.withResolvers<FromKuma>();
  const ended = (): void => reject(new Error('the thread ended'));
  worker.once('message', resolve).once('error', reject).once('exit', ended);
  try {
    return await promise;
  } finally {
    worker.off('message', resolve).off('error', reject).off('exit', ended);
  }
}
