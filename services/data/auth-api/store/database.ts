import pg from 'pg';
import type { Database } from '../../engine/database.ts';

/** Query interface of the auth API. */
export interface Sql {
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

export interface AuthDatabase extends Sql {
  /** Runs `work` in a transaction, which is rolled back when it throws. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

/**
 * Creates the database access of the auth API. Statements run as the owner of the tables of projects: triggers on
 * `auth.users` run with the same rights, which must not be those of a superuser.
 */
export function createAuthDatabase(database: Pick<Database, 'asOwner'>): AuthDatabase {
  return {
    query: (text, values) => database.asOwner((pool) => runQuery(pool, text, values)),
    transaction: (work) =>
      database.asOwner(async (pool) => {
        const client = await pool.connect();
        let releaseError: Error | undefined;
        // A terminated server also reports errors on idle connections.
        const handleError = (error: Error): void => void (releaseError = error);
        client.on('error', handleError);
        try {
          await client.query('begin');
          const result = await work({ query: (text, values) => runQuery(client, text, values) });
          await client.query('commit');
          return result;
        } catch (error) {
          await client.query('rollback').catch((failure: Error) => (releaseError = failure));
          throw error;
        } finally {
          client.off('error', handleError);
          client.release(releaseError);
        }
      }),
  };
}

// Statements are not named: entered statements share these connections and may drop or create prepared statements.
async function runQuery<Row>(
  client: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { rows } = await client.query<Row & pg.QueryResultRow>(text, [...values]);
  return rows;
}

/** Returns the SQLSTATE of a database error; undefined for other errors. */
export function getSqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
