import * as m from '#messages/data-problems';
import { Problem } from '../../contracts/problem.ts';
import { isLostConnection } from '../../kit/lost-connection.ts';

/** Builds the error for an unreachable database. Nothing that the request wrote was acknowledged. */
export function createUnavailableError(cause: unknown): Problem {
  return new Problem('data.database_away', 503, m.databaseUnavailable, {
    cause,
    headers: { 'Retry-After': '1' },
  });
}

/** SQLSTATE codes of a server that shuts down, starts up or has no connection left. */
const connectionSqlStates = new Set(['57P01', '57P02', '57P03', '53300', '08000', '08001', '08003', '08004', '08006']);
const connectionErrorCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Returns true for driver errors that mean that the connection was lost or could not be made. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return connectionSqlStates.has(code) || connectionErrorCodes.has(code) || isLostConnection(error);
}

/** Returns true while the server starts or recovers; it accepts connections shortly afterwards. */
export function isStarting(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === '57P03' || error.code === 'ECONNREFUSED' || error.code === 'ENOENT')
  );
}
