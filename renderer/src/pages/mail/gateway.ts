import { Problem } from '../../../../services/contracts/problem.ts';
import { formatError } from '../../api/call.ts';

/** Tries of what says that it is starting, and of what has no address, which may as well be switched off. */
const tries = { starting: 10, away: 3 } as const;
const betweenMs = 1000;

/** Asks the gateway; a change of its settings has it start anew, and it is back in a moment. */
export async function whenBack<Reply>(ask: () => Promise<Reply>, signal: AbortSignal): Promise<Reply> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await ask();
    } catch (error) {
      if (tried >= mostTries(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, betweenMs));
    signal.throwIfAborted();
  }
}

function mostTries(error: unknown): number {
  if (!(error instanceof Problem)) return 0;
  if (error.status === 503) return tries.starting;
  return error.code === 'api.unknown_path' ? tries.away : 0;
}

/** What is wrong with the first of the fields, or with the whole, as a sentence. */
export function firstFault(error: unknown): string {
  return (error instanceof Problem ? Object.values(error.fields)[0] : undefined) ?? formatError(error);
}
