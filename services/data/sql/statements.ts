import * as m from '#messages/data-problems';
import type { EventEmitter } from 'node:events';
import pg from 'pg';

/** Wraps the execution of `work`, which runs on the given connection. */
export type StatementWrapper = <T>(client: pg.ClientBase, work: () => Promise<T>) => Promise<T>;

interface RunOptions {
  readonly types?: pg.CustomTypesConfig;
  /** Rows are arrays of values instead of objects, in which columns of the same name would replace each other. */
  readonly rowMode?: 'array';
  readonly wrap?: StatementWrapper;
}

/**
 * Runs statements unchanged, in one transaction unless they control transactions themselves. Returns the result of
 * each.
 */
export async function runStatements(
  pool: pg.Pool,
  text: string,
  { wrap = (_, work) => work(), ...options }: RunOptions = {},
): Promise<readonly pg.QueryResult[]> {
  const client = await pool.connect();
  let releaseError: Error | undefined;
  const { connection } = client as pg.PoolClient & { readonly connection: EventEmitter };
  let isCopy = false;
  const markCopy = (): void => void (isCopy = true);
  connection.on('copyInResponse', markCopy);
  try {
    const results: pg.QueryResult | pg.QueryResult[] = await wrap(client, () => client.query({ text, ...options }));
    return Array.isArray(results) ? results : [results];
  } catch (error) {
    if (isCopy && error instanceof pg.DatabaseError) error.hint ??= m.copyNotSupported();
    throw error;
  } finally {
    connection.off('copyInResponse', markCopy);
    // Session settings and open transactions must not leak to the next user of the connection.
    try {
      await client.query('rollback');
      await client.query('discard all');
    } catch (error) {
      releaseError = error instanceof Error ? error : new Error(String(error));
    }
    client.release(releaseError);
  }
}
