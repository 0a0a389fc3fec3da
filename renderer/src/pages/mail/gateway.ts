import { Problem } from '../../../../services/contracts/problem.ts';
import { sentence } from '../../api/call.ts';

const tries = 10;
const betweenMs = 1000;

/** Asks the gateway; a change of its settings has it start anew, and it is back in a moment. */
export async function whenBack<Reply>(ask: () => Promise<Reply>, signal: AbortSignal): Promise<Reply> {
  for (let left = tries; ; left -= 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 503 || left === 0) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, betweenMs));
    signal.throwIfAborted();
  }
}

/** What is wrong with the first of the fields, or with the whole, as a sentence. */
export function firstFault(error: unknown): string {
  return (error instanceof Problem ? Object.values(error.fields)[0] : undefined) ?? sentence(error);
}
