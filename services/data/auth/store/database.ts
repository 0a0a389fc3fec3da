import { createHash } from 'node:crypto';
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
        try {
          await client.query('begin');
          const result = await work({ query: (text, values) => ask(client, text, values) });
          await client.query('commit');
          return result;
        } catch (error) {
          await client.query('rollback').catch((failure: Error) => (broken = failure));
          throw error;
        } finally {
          client.release(broken);
        }
      }),
  };
}

/** Names of statements: PostgreSQL keeps the plan of one that has a name. */
const names = new Map<string, string>();
const mostNames = 200;

async function ask<Row>(
  client: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  let name = names.get(text);
  if (name === undefined && names.size < mostNames) {
    name = `auth_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
    names.set(text, name);
  }
  const query = { text, values: [...values], ...(name === undefined ? {} : { name }) };
  const { rows } = await client.query<Row & pg.QueryResultRow>(query);
  return rows;
}

/** SQLSTATE of what PostgreSQL refused; undefined for other errors. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
