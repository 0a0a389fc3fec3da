import { Problem } from '../../../../services/contracts/problem.ts';
import { formatError } from '../../api/call.ts';

/**
 * Maximum number of attempts while the gateway is starting, and while it has no routes, in which case it may be
 * disabled.
 */
const maxAttempts = { starting: 10, away: 3 } as const;
const retryDelayMs = 1000;

/** Calls the gateway and retries while it restarts after a change of its settings. */
export async function callWithRetry<Reply>(request: () => Promise<Reply>, signal: AbortSignal): Promise<Reply> {
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await request();
    } catch (error) {
      if (attempts >= getMaxAttempts(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
    signal.throwIfAborted();
  }
}

function getMaxAttempts(error: unknown): number {
  if (!(error instanceof Problem)) return 0;
  if (error.status === 503) return maxAttempts.starting;
  return error.code === 'api.unknown_path' ? maxAttempts.away : 0;
}

/** Returns the error of the first invalid field, or the general error. */
export function getFirstError(error: unknown): string {
  return (error instanceof Problem ? Object.values(error.fields)[0] : undefined) ?? formatError(error);
}
