import { Problem } from '../../../services/contracts/problem.ts';

/** Problem in a form that can be sent between threads. */
export type ThreadProblem = Pick<Problem, 'code' | 'status' | 'detail' | 'retryable' | 'cause'>;

/** @throws any error that is not a Problem. */
export function problemForThread(error: unknown): ThreadProblem {
  if (!(error instanceof Problem)) throw error;
  const { code, status, detail, retryable, cause } = error;
  return { code, status, detail, retryable, cause };
}

/** Restores a Problem of another thread. */
export function problemFromThread({ code, status, detail, ...options }: ThreadProblem): Problem {
  return new Problem(code, status, detail, options);
}
