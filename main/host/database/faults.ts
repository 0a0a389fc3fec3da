import * as m from '#messages/host-problems';
import type { CompiledQuery, DatabaseConnection } from 'kysely';
import { Problem } from '../../../services/contracts/problem.ts';
import { isLostConnection } from '../../../services/kit/lost-connection.ts';

/**
 * Converts errors that a caller can handle to Problems; other errors (a violated constraint, invalid SQL) pass
 * unchanged. SQLite result codes: https://sqlite.org/rescode.html, PostgreSQL's: appendix A of its manual.
 * - `database.full` (507): no space, or the disk cannot be written (SQLite does not always distinguish them). Nothing
 * was stored; works again when there is space. - `database.busy` (503): another process holds a lock, PostgreSQL
 * requests a retry of the transaction, or the statement exceeded its time limit. - `database.unreachable` (503): PostgreSQL does not answer. -
 * `database.damaged` (500): the file is not a database, or its content is inconsistent.
 */
export function toDatabaseError(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY)|ENOSPC|EDQUOT|53100)/.test(code)) {
    const detail = m.databaseNotWritable;
    return new Problem('database.full', 507, detail, { cause: error, retryable: true });
  }
  if (/^(SQLITE_(BUSY|LOCKED)|40001|40P01|55P03|57014|53300)/.test(code)) {
    return new Problem('database.busy', 503, m.databaseBusy, { cause: error });
  }
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    const detail = m.databaseDamaged;
    return new Problem('database.damaged', 500, detail, { cause: error, retryable: false });
  }
  if (/^(08|57P0)/.test(code) || connectionErrorCodes.includes(code) || isLostConnection(error)) {
    return new Problem('database.unreachable', 503, m.databaseUnreachable, { cause: error });
  }
  return error;
}

const connectionErrorCodes = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EPIPE'];

/** Runs work and converts its errors to Problems. */
export async function withDatabaseErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toDatabaseError(error);
  }
}

const observedConnections = new WeakSet<DatabaseConnection>();

/** Makes all queries of a driver's connection throw Problems. `before` is called with each query. */
export function watchConnection(
  connection: DatabaseConnection,
  before?: (query: CompiledQuery) => void,
): DatabaseConnection {
  if (observedConnections.has(connection)) return connection;
  observedConnections.add(connection);
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = (query, options) =>
    withDatabaseErrors(() => {
      before?.(query);
      return execute(query, options);
    });
  return connection;
}
