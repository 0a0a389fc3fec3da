import type { CompiledQuery, DatabaseConnection } from 'kysely';
import { Problem } from '../../../services/contracts/problem.ts';

/**
 * Gives the faults a caller can do something about a name; every other error (a broken constraint, wrong SQL) passes
 * unchanged. SQLite result codes: https://sqlite.org/rescode.html, PostgreSQL's: appendix A of its manual.
 *
 * - `database.full` (507): no space, or the disk refuses to be written (SQLite does not always tell which). Nothing was stored; works again when there is space.
 * - `database.busy` (503): another process holds a lock, or PostgreSQL asks to repeat the transaction.
 * - `database.unreachable` (503): PostgreSQL does not answer.
 * - `database.damaged` (500): the file is no database, or its content does not fit together.
 */
export function nameFault(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY)|ENOSPC|EDQUOT|53100)/.test(code)) {
    const detail =
      'The database cannot be written: the disk is full, faulty or write-protected. Free some space and try again.';
    return new Problem('database.full', 507, detail, { cause: error, retryable: true });
  }
  if (/^(SQLITE_(BUSY|LOCKED)|40001|40P01|55P03|53300)/.test(code)) {
    return new Problem('database.busy', 503, 'The database is busy. Try again in a moment.', { cause: error });
  }
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    const detail = 'The database is damaged. Put it back from a backup, or move it away to begin with an empty one.';
    return new Problem('database.damaged', 500, detail, { cause: error, retryable: false });
  }
  if (/^(08|57P0)/.test(code) || isConnectionError(code, error)) {
    return new Problem('database.unreachable', 503, 'The database server does not answer.', { cause: error });
  }
  return error;
}

// pg throws plain errors without a code for connections that end or never begin.
function isConnectionError(code: string, error: Error): boolean {
  if (['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EPIPE'].includes(code)) return true;
  return /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection)/.test(
    error.message,
  );
}

/** Awaits the work and names the fault it throws. */
export async function namingFaults<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw nameFault(error);
  }
}

const watched = new WeakSet<DatabaseConnection>();

/** Makes all queries of a driver's connection throw named faults. `before` is called with each query. */
export function watchConnection(
  connection: DatabaseConnection,
  before?: (query: CompiledQuery) => void,
): DatabaseConnection {
  if (watched.has(connection)) return connection;
  watched.add(connection);
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = (query, options) =>
    namingFaults(() => {
      before?.(query);
      return execute(query, options);
    });
  return connection;
}
