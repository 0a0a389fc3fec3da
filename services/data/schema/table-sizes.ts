import { readWithSizes, type SchemaOptions } from './catalog.ts';

/** Size of a table in bytes, with its indexes and long values. */
export interface TableSize {
  readonly schema: string;
  readonly name: string;
  readonly bytes: number;
}

/** Lists the largest tables of the served schemas. */
export function listLargestTables({ database, settings }: SchemaOptions, limit: number): Promise<TableSize[]> {
  const buildText = (size: string): string => `
    select n.nspname as schema, c.relname as name, (${size})::float8 as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any($1) and c.relkind in ('r', 'm') order by bytes desc, 1, 2 limit $2`;
  return readWithSizes<TableSize>(database, buildText, [settings.schemas, limit], 'pg_total_relation_size');
}
