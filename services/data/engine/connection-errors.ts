import { Problem } from '../../contracts/problem.ts';

/** The database cannot be reached now; nothing of what was asked for was acknowledged. */
export function databaseAway(cause: unknown): Problem {
  return new Problem('data.database_away', 503, 'The database cannot be reached. Try again in a moment.', {
    cause,
    headers: { 'Retry-After': '1' },
  });
}

/** PostgreSQL ends, starts or has no connection left. */
const states = new Set(['57P01', '57P02', '57P03', '53300', '08000', '08001', '08003', '08004', '08006']);
const faults = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Whether an error of the driver says that the connection is gone or could not be made. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (states.has(code) || faults.has(code)) return true;
  return (
    code === '' &&
    /connection terminated|connection error|not queryable|timeout exceeded when trying to connect|client was closed|cannot use a pool after/i.test(
      error.message,
    )
  );
}

/** It starts or recovers, and takes connections in a moment. */
export function isStarting(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === '57P03' || error.code === 'ECONNREFUSED' || error.code === 'ENOENT')
  );
}
