import * as m from '#messages/data-problems';
import pg from 'pg';
import { buildIndexStatement, type DataIndex, type DataIndexInput } from '../../contracts/data/schema.ts';
import { quoteQualified } from '../../contracts/data/sql-names.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Database } from '../engine/database.ts';
import { createRefusal } from './refusal.ts';
import { changeSchema, readCatalog, readWithSizes, type SchemaOptions } from './catalog.ts';

const duplicateTable = '42P07';
const undefinedColumn = '42703';
const undefinedObject = '42704';

const buildIndexesQuery = (size: string): string => `
select n.nspname as schema, t.relname as table, c.relname as name, am.amname as method,
  (select json_agg(pg_get_indexdef(c.oid, k, true) order by k) from generate_series(1, i.indnkeyatts) k) as columns,
  i.indisunique as "isUnique", i.indisprimary as "isPrimary", i.indisvalid as "isValid",
  (select min(k.conname) from pg_constraint k where k.conindid = c.oid and k.contype in ('p', 'u', 'x')) as constraint,
  (${size})::float8 as bytes, coalesce(s.idx_scan, 0)::float8 as scans, pg_get_indexdef(c.oid) as definition
from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
join pg_namespace n on n.oid = t.relnamespace join pg_am am on am.oid = c.relam
left join pg_stat_user_indexes s on s.indexrelid = c.oid
where n.nspname = any($1) and not c.relispartition
order by 1, 2, 3`;

/** Lists the indexes of the served schemas with the start of their use counts. */
export async function listIndexes({
  database,
  settings,
}: SchemaOptions): Promise<{ countedSince: number | null; indexes: DataIndex[] }> {
  const [statistics] = await readCatalog<{ since: number | null }>(
    database,
    `select (extract(epoch from stats_reset) * 1000)::float8 as since from pg_stat_database
      where datname = current_database()`,
  );
  const indexes = await readWithSizes<DataIndex>(database, buildIndexesQuery, [settings.schemas]);
  return { countedSince: statistics?.since ?? null, indexes };
}

/**
 * Creates an index. Writes stay possible in the meantime, except for partitioned tables.
 *
 * @throws Problem `data.unknown_table` (404), `data.refused` (409) with the fields that caused it
 */
export async function createIndex({ database, settings }: SchemaOptions, index: DataIndexInput): Promise<void> {
  const [table] = settings.schemas.includes(index.schema)
    ? await readCatalog<{ isPartitioned: boolean }>(
        database,
        `select c.relkind = 'p' as "isPartitioned" from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p', 'm')`,
        [index.schema, index.table],
      )
    : [];
  if (table === undefined) throw new Problem('data.unknown_table', 404, m.tableNotFound());
  try {
    await runAlone(database, buildIndexStatement(index, !table.isPartitioned));
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    if (error.code !== duplicateTable) await dropInvalid(database, index);
    throw createRefusal(error, findField(error));
  }
}

/** Runs one statement outside of a transaction, on a connection that may be busy for a long time. */
async function runAlone(database: Database, text: string): Promise<void> {
  await database.withStatementPool((pool) => pool.query(text));
}

/** Drops the unusable index that a failed concurrent creation leaves. */
async function dropInvalid(database: Database, { schema, name }: DataIndexInput): Promise<void> {
  const remains = await readCatalog(
    database,
    `select from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relname = $2 and not i.indisvalid`,
    [schema, name],
  );
  if (remains.length > 0) await runAlone(database, `drop index if exists ${quoteQualified(schema, name)}`);
}

function findField({ code, message }: pg.DatabaseError): Record<string, string> {
  if (code === duplicateTable) return { name: message };
  // An access method does not support the type of a column.
  return code === undefinedColumn || code === undefinedObject ? { columns: message } : {};
}

/**
 * Drops an index and returns the statement that creates it again.
 *
 * @throws Problem `data.unknown_index` (404), `data.refused` (409) for the index of a constraint
 */
export async function dropIndex({ database, settings }: SchemaOptions, schema: string, name: string): Promise<string> {
  return changeSchema(database, async (client) => {
    const { rows } = await client.query<{ definition: string }>(
      `select pg_get_indexdef(c.oid) as definition from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and n.nspname = any($3) and c.relname = $2 and c.relkind in ('i', 'I')`,
      [schema, name, settings.schemas],
    );
    if (rows[0] === undefined) throw new Problem('data.unknown_index', 404, m.indexNotFound());
    await client.query(`drop index ${quoteQualified(schema, name)}`);
    return rows[0].definition;
  });
}
