import type pg from 'pg';
import { keyOf, type Argument, type Catalogue, type Column, type Routine, type Table } from './catalogue.ts';
import { keysOfViews, relate, type ForeignKey, type PrimaryKey, type ViewColumn } from './relate.ts';
import {
  foreignKeysStatement,
  primaryKeysStatement,
  routinesStatement,
  tablesStatement,
  viewColumnsStatement,
} from './statements.ts';

interface TableRow {
  schema: string;
  name: string;
  is_view: boolean;
  oid: string;
  comment: string | null;
  primary_key: string[];
  columns: (Column & { number: number })[];
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

/** Reads what the exposed schemas hold. */
export async function loadCatalogue(client: pg.ClientBase, schemas: readonly string[]): Promise<Catalogue> {
  // One snapshot, so that no key speaks of a table that is not there.
  await client.query('begin isolation level repeatable read read only');
  try {
    const { rows: versions } = await client.query<{ version: string }>(versionStatement);
    const tables = await client.query<TableRow>(tablesStatement, [schemas]);
    const keys = await client.query<ForeignKey>(foreignKeysStatement);
    const views = await client.query<ViewColumn>(viewColumnsStatement, [schemas]);
    const primaryKeys = await client.query<PrimaryKey>(primaryKeysStatement);
    const routines = await client.query<RoutineRow>(routinesStatement, [schemas]);
    await client.query('commit');
    const ofViews = keysOfViews(views.rows, primaryKeys.rows);
    return build(Number(versions[0]?.version ?? 0), tables.rows, ofViews, keys.rows, views.rows, routines.rows);
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** Grows with each change of the schema, where we may see them. */
export const versionStatement = 'select (last_value + is_called::int)::text as version from homeport.schema_version';

function build(
  version: number,
  tableRows: readonly TableRow[],
  ofViews: ReadonlyMap<string, readonly number[]>,
  keys: readonly ForeignKey[],
  views: readonly ViewColumn[],
  routineRows: readonly RoutineRow[],
): Catalogue {
  const tables = new Map<string, Table>();
  const byOid = new Map<string, { readonly key: string; readonly columns: ReadonlyMap<number, string> }>();
  for (const { schema, name, is_view, oid, comment, primary_key, columns } of tableRows) {
    const key = keyOf(schema, name);
    const named = new Map(columns.map((column) => [column.name, column]));
    const numbered = new Map(columns.map((column) => [column.number, column.name]));
    const primaryKey = is_view ? (ofViews.get(oid) ?? []).map((number) => numbered.get(number) ?? '') : primary_key;
    tables.set(key, { schema, name, isView: is_view, comment, columns: named, primaryKey });
    byOid.set(oid, { key, columns: numbered });
  }
  const routines = new Map<string, Routine[]>();
  for (const row of routineRows) {
    const routine = routineOf(row, byOid);
    const key = keyOf(row.schema, row.name);
    routines.set(key, [...(routines.get(key) ?? []), routine]);
  }
  return { version, tables, routines, relationships: relate({ tables, byOid, keys, views, routines }) };
}

function routineOf(row: RoutineRow, byOid: ReadonlyMap<string, { readonly key: string }>): Routine {
  const { modes, names, types, defaults } = row;
  const all = types.map((type, at) => ({ type, name: names[at] ?? '', mode: modes[at] ?? 'i' }));
  const inputs = all.filter(({ mode }) => mode === 'i' || mode === 'b' || mode === 'v');
  const args: Argument[] = inputs.map(({ type, name, mode }, at) => ({
    name,
    type,
    isRequired: at < inputs.length - defaults,
    isVariadic: mode === 'v',
  }));
  const hasOutputs =
    all.filter(({ mode }) => mode === 't' || mode === 'o' || mode === 'b').length > 1 || modes.includes('t');
  const isComposite = row.return_kind === 'c' || (row.return_name === 'record' && hasOutputs);
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
