import type pg from 'pg';
import {
  toTableKey,
  type Argument,
  type Catalogue,
  type Column,
  type Representation,
  type Routine,
  type Table,
} from './catalogue.ts';
import { findViewKeys, findRelationships, type ForeignKey, type PrimaryKey, type ViewColumn } from './relationships.ts';
import {
  foreignKeysStatement,
  primaryKeysStatement,
  representationsStatement,
  routinesStatement,
  tablesStatement,
  viewRulesStatement,
} from './statements.ts';
import { parseViewColumns, type ViewRule } from './view-columns.ts';

interface TableRow {
  schema: string;
  name: string;
  is_view: boolean;
  oid: string;
  comment: string | null;
  primary_key: string[];
  columns: (Column & { number: number; domain: string | null })[];
}

interface RepresentationRow {
  domain: string;
  direction: string;
  function: string;
}

interface RoutineRow {
  schema: string;
  name: string;
  comment: string | null;
  is_volatile: boolean;
  is_set: boolean;
  rows: number;
  return_kind: string;
  return_name: string;
  return_type: string;
  return_relation: string;
  is_variadic: boolean;
  defaults: number;
  modes: string[];
  names: string[];
  types: string[];
  of_relation: string | null;
}

/** Reads the exposed schemas. */
export async function loadCatalogue(client: pg.ClientBase, schemas: readonly string[]): Promise<Catalogue> {
  // Reads one snapshot, so that foreign keys never refer to missing tables.
  await client.query('begin isolation level repeatable read read only');
  try {
    const { rows: versions } = await client.query<{ version: string }>(versionStatement);
    const tables = await client.query<TableRow>(tablesStatement, [schemas]);
    const keys = await client.query<ForeignKey>(foreignKeysStatement);
    const rules = await client.query<ViewRule>(viewRulesStatement, [schemas]);
    const views = rules.rows.flatMap(parseViewColumns);
    const primaryKeys = await client.query<PrimaryKey>(primaryKeysStatement);
    const routines = await client.query<RoutineRow>(routinesStatement, [schemas]);
    const representations = await client.query<RepresentationRow>(representationsStatement);
    await client.query('commit');
    const schemaRows = {
      tables: addRepresentations(tables.rows, representations.rows),
      keys: keys.rows,
      views,
      routines: routines.rows,
    };
    return buildCatalogue(Number(versions[0]?.version ?? 0), schemaRows, findViewKeys(views, primaryKeys.rows));
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** Query for the schema version, which increases with each reported change. */
export const versionStatement = 'select (last_value + is_called::int)::text as version from homeport.schema_version';

/** Adds the conversion functions of domains to their columns. */
function addRepresentations(tables: readonly TableRow[], rows: readonly RepresentationRow[]): readonly TableRow[] {
  const byDomain = new Map<string, Representation>();
  const names: Readonly<Record<string, keyof Representation>> = {
    to_json: 'toJson',
    from_json: 'fromJson',
    from_text: 'fromText',
  };
  for (const { domain, direction, function: name } of rows) {
    const key = names[direction];
    if (key !== undefined) byDomain.set(domain, { ...byDomain.get(domain), [key]: name });
  }
  if (byDomain.size === 0) return tables;
  return tables.map((table) => ({
    ...table,
    columns: table.columns.map((column) => ({ ...column, representation: byDomain.get(column.domain ?? '') })),
  }));
}

interface ReadRows {
  readonly tables: readonly TableRow[];
  readonly keys: readonly ForeignKey[];
  readonly views: readonly ViewColumn[];
  readonly routines: readonly RoutineRow[];
}

function buildCatalogue(
  version: number,
  { tables: tableRows, keys, views, routines: routineRows }: ReadRows,
  viewKeys: ReadonlyMap<string, readonly number[]>,
): Catalogue {
  const tables = new Map<string, Table>();
  const byOid = new Map<string, { readonly key: string; readonly columns: ReadonlyMap<number, string> }>();
  for (const { schema, name, is_view, oid, comment, primary_key, columns } of tableRows) {
    const key = toTableKey(schema, name);
    const columnsByName = new Map(columns.map((column) => [column.name, column]));
    const columnNames = new Map(columns.map((column) => [column.number, column.name]));
    const primaryKey = is_view ? (viewKeys.get(oid) ?? []).map((number) => columnNames.get(number) ?? '') : primary_key;
    const hasRepresentations = columns.some(({ representation }) => representation !== undefined);
    tables.set(key, { schema, name, isView: is_view, comment, columns: columnsByName, primaryKey, hasRepresentations });
    byOid.set(oid, { key, columns: columnNames });
  }
  const routines = new Map<string, Routine[]>();
  for (const row of routineRows) {
    const routine = toRoutine(row, byOid);
    const key = toTableKey(row.schema, row.name);
    routines.set(key, [...(routines.get(key) ?? []), routine]);
  }
  return { version, tables, routines, relationships: findRelationships({ tables, byOid, keys, views, routines }) };
}

function toRoutine(row: RoutineRow, byOid: ReadonlyMap<string, { readonly key: string }>): Routine {
  const { modes, names, types, defaults } = row;
  const all = types.map((type, index) => ({ type, name: names[index] ?? '', mode: modes[index] ?? 'i' }));
  const inputs = all.filter(({ mode }) => mode === 'i' || mode === 'b' || mode === 'v');
  const args: Argument[] = inputs.map(({ type, name, mode }, index) => ({
    name,
    type,
    isRequired: index < inputs.length - defaults,
    isVariadic: mode === 'v',
  }));
  // A single named output column makes the result a row as well.
  const hasOutputs = all.some(({ name, mode }) => (mode === 't' || mode === 'o' || mode === 'b') && name !== '');
  const isComposite = row.return_kind === 'c' || hasOutputs;
  return {
    schema: row.schema,
    name: row.name,
    comment: row.comment,
    arguments: args,
    returns: row.return_name === 'void' ? 'void' : isComposite ? 'composite' : 'scalar',
    isSet: row.is_set,
    isVolatile: row.is_volatile,
    table: byOid.get(row.return_relation)?.key,
    ofTable: row.of_relation === null ? undefined : byOid.get(row.of_relation)?.key,
    returnsOne: !row.is_set || row.rows === 1,
    returnType: row.return_type,
  };
}
