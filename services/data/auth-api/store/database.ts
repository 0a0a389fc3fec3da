import pg from 'pg';
import type { Database } from '../../engine/database.ts';

/** PostgreSQL as this part needs it. */
export interface Sql {
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

export interface AuthDatabase extends Sql {
  /** One transaction; what throws rolls it back. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

/**
 * Statements run as the owner of people's tables: their triggers on `auth.users` run with the same rights, so they must
 * not be a superuser's.
 */
export function authDatabase(database: Pick<Database, 'asOwner'>): AuthDatabase {
  return {
    query: (text, values) => database.asOwner((pool) => ask(pool, text, values)),
    transaction: (work) =>
      database.asOwner(async (pool) => {
        const client = await pool.connect();
        let broken: Error | undefined;
        // A server that is killed says so on connections where nobody asks anything too.
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

// Without names: who types statements shares these connections, and may drop or make what PostgreSQL keeps under a name.
async function ask<Row>(
  client: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { rows } = await client.query<Row & pg.QueryResultRow>(text, [...values]);
  return rows;
}

/** SQLSTATE of what PostgreSQL refused; undefined for other errors. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
