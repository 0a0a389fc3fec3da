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
export function authDatabase(database: Pick<Database, 'asOwner'>): AuthDatabase {
  return {
    query: (text, values) => database.asOwner((pool) => ask(pool, text, values)),
    transaction: (work) =>
      database.asOwner(async (pool) => {
        const client = await pool.connect();
        let broken: Error | undefined;
        // A terminated server also reports errors on idle connections.
        const breaks = (error: Error): void => void (broken = error);
        client.on('error', breaks);
        try {
          await client.query('begin');
          const result = await work({ query: (text, values) => ask(client, text, values) });
          await client.query('commit');
          return result;
        } catch (error) {
          await client.query('rollback').catch((failure: Error) => (broken = failure));
          throw error;
        } finally {
          client.off('error', breaks);
          client.release(broken);
        }
      }),
  };
}

// Statements are not named: entered statements share these connections and may drop or create prepared statements.
async function ask<Row>(
  client: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { rows } = await client.query<Row & pg.QueryResultRow>(text, [...values]);
  return rows;
}

/** Returns the SQLSTATE of a database error; undefined for other errors. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
