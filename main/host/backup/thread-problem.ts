import { Problem } from '../../../services/contracts/problem.ts';

/** A Problem as threads can tell each other. */
export type ThreadProblem = Pick<Problem, 'code' | 'status' | 'detail' | 'retryable' | 'cause'>;

/** @throws what is none. */
export function problemForThread(error: unknown): ThreadProblem {
  if (!(error instanceof Problem)) throw error;
  const { code, status, detail, retryable, cause } = error;
  return { code, status, detail, retryable, cause };
}

/** The Problem that another thread told of. */
export function problemFromThread({ code, status, detail, ...options }: ThreadProblem): Problem {
  return new Problem(code, status, detail, options);
}
