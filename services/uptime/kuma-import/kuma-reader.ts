import { Problem } from '../../contracts/problem.ts';
import { LimitedProcesses, LimitExceeded } from '../../kit/limited-process.ts';
import { getThreadFile } from '../../kit/limited-thread.ts';
import { systemTimer } from '../../kit/system-timer.ts';
import type { Holding } from './backup.ts';
import type { KumaAnswer, KumaQuestion } from './kuma-messages.ts';

const mebibyte = 1024 * 1024;
const limits = {
  clock: systemTimer,
  memoryMb: 512,
  timeoutMs: 5 * 60_000,
  maxOutputBytes: 256 * mebibyte,
  nativeAddons: true,
} as const;

/**
 * Opens a `kuma.db` in a separate process until it is disposed.
 * @throws Problem `uptime.no_backup` (400) when it cannot be read or is too large
 */
export async function openKuma(file: string): Promise<AsyncDisposable & { readonly holding: Holding }> {
  const processes = new LimitedProcesses(getThreadFile('kuma-process', import.meta.url), limits);
  try {
    const answer = await ask(processes, { file });
    if (answer.kind !== 'holding') throw new Error('the process sent another answer');
    const past: Holding['past'] = async (monitor, now) => {
      const found = await ask(processes, { file, history: { monitor, now } });
      if (found.kind !== 'past') throw new Error('the process sent another answer');
      return found.past;
    };
    return {
      holding: { ...answer.holding, past },
      [Symbol.asyncDispose]: () => processes[Symbol.asyncDispose](),
    };
  } catch (error) {
    await processes[Symbol.asyncDispose]();
    throw error;
  }
}

async function ask(processes: LimitedProcesses, question: KumaQuestion): Promise<KumaAnswer> {
  try {
    const answer = await processes.run<KumaAnswer>(question);
    if (answer.kind === 'refused') throw new Problem('uptime.no_backup', 400, answer.detail);
    return answer;
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    const detail = `This database is too large or damaged: ${error.message}.`;
    throw new Problem('uptime.no_backup', 400, detail, { cause: error });
  }
}
