import pg from 'pg';
import type { Database } from '../engine/database.ts';
import { inTransaction } from '../engine/database.ts';
import { createRefusal } from './refusal.ts';

const lockNotAvailable = '55P03';

/** Access to the served schemas for the schema pages. */
export interface SchemaOptions {
  readonly database: Database;
  readonly settings: { readonly schemas: readonly string[] };
}

/** Reads rows of the system catalog. */
export async function readCatalog<Row extends pg.QueryResultRow>(
  database: Database,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { rows } = await database.withCatalogue((pool) => pool.query<Row>(text, [...values]));
  return rows;
}

/**
 * Reads rows of the system catalog with sizes of relations. Reading a size waits while another transaction changes the
 * relation; after a short time the size at the last vacuum is used instead.
 *
 * @param buildText receives the expression of the size in bytes of the relation `c`
 */
export async function readWithSizes<Row extends pg.QueryResultRow>(
  database: Database,
  buildText: (size: string) => string,
  values: readonly unknown[],
  sizeFunction: 'pg_relation_size' | 'pg_total_relation_size' = 'pg_relation_size',
): Promise<Row[]> {
  return database.withCatalogue(async (pool) => {
    try {
      return await inTransaction(pool, async (client) => {
        await client.query(`set local lock_timeout = '300ms'`);
        return (await client.query<Row>(buildText(`${sizeFunction}(c.oid)`), [...values])).rows;
      });
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== lockNotAvailable) throw error;
      const pages = `c.relpages::bigint * current_setting('block_size')::int`;
      return (await pool.query<Row>(buildText(pages), [...values])).rows;
    }
  });
}

/**
 * Runs `work` as the owner of the tables in one transaction.
 *
 * @throws Problem `data.refused` (409) when PostgreSQL rejects a statement
 */
export async function changeSchema<T>(database: Database, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  try {
    return await database.asOwner((pool) =>
      inTransaction(pool, async (client) => {
        // Definitions that PostgreSQL prints are complete only without other schemas on the search path.
        await client.query(`set local lock_timeout = '10s'; set local search_path = pg_catalog`);
        return work(client);
      }),
    );
  } catch (error) {
    throw error instanceof pg.DatabaseError ? createRefusal(error) : error;
  }
}
