import * as m from '#messages/uptime-problems';
import { Problem } from '../../contracts/problem.ts';
import { LimitedProcesses, LimitExceeded } from '../../kit/limited-process.ts';
import { getThreadFile } from '../../kit/limited-thread.ts';
import { systemTimer } from '../../kit/system-timer.ts';
import type { ImportSource } from './backup.ts';
import type { KumaAnswer, KumaRequest } from './kuma-messages.ts';

/** The process that reads the database has no language, so it reports a reason instead of a sentence. */
const refusals = { unreadable: m.databaseUnreadable, foreign: m.databaseForeign } as const;
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
export async function openKumaBackup(file: string): Promise<AsyncDisposable & { readonly source: ImportSource }> {
  const processes = new LimitedProcesses(getThreadFile('kuma-process', import.meta.url), limits);
  try {
    const answer = await request(processes, { file });
    if (answer.kind !== 'holding') throw new Error('kuma.db process sent an unexpected answer');
    const past: ImportSource['readHistory'] = async (monitor, now) => {
      const historyAnswer = await request(processes, { file, history: { monitor, now } });
      if (historyAnswer.kind !== 'past') throw new Error('kuma.db process sent an unexpected answer');
      return historyAnswer.past;
    };
    return {
      source: { ...answer.holding, readHistory: past },
      [Symbol.asyncDispose]: () => processes[Symbol.asyncDispose](),
    };
  } catch (error) {
    await processes[Symbol.asyncDispose]();
    throw error;
  }
}

async function request(processes: LimitedProcesses, kumaRequest: KumaRequest): Promise<KumaAnswer> {
  try {
    const answer = await processes.run<KumaAnswer>(kumaRequest);
    if (answer.kind === 'refused') throw new Problem('uptime.no_backup', 400, refusals[answer.reason]);
    return answer;
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    const detail = m.databaseTooLarge({ reason: error.message });
    throw new Problem('uptime.no_backup', 400, detail, { cause: error });
  }
}
