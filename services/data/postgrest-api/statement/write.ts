import { RestError } from '../errors.ts';
import type { Payload } from '../parse/body.ts';
import type { Condition } from '../parse/filters.ts';
import type { Preferences } from '../parse/preferences.ts';
import type { Column, Table } from '../schema/catalogue.ts';
import { whereOf } from './conditions.ts';
import { literal, quote, type Values } from './sql.ts';

export interface Write {
  readonly table: Table;
  readonly payload: Payload;
  readonly columns: readonly string[] | undefined;
  readonly conditions: readonly Condition[];
  readonly preferences: Preferences;
  readonly values: Values;
  /** RETURNING list. */
  readonly returning: string;
}

/** Builds an insert; `conflict` are the columns that identify existing rows. */
export function insertStatement(write: Write, conflict: readonly string[] | undefined): string {
  const { table, payload, preferences, returning } = write;
  const target = `${quote(table.schema)}.${quote(table.name)}`;
  const columns = writtenColumns(write);
  const names = columns.map(({ name }) => quote(name));
  const from =
    names.length > 0
      ? `(${names.join(', ')}) SELECT ${columns.map(sentValue).join(', ')} FROM ${bodyOf(write, columns)}`
      : // An object without keys is a row of defaults.
        payload.count === 1
        ? 'DEFAULT VALUES'
        : `SELECT FROM ${bodyOf(write, columns)} WHERE false`;
  return `INSERT INTO ${target} ${from}${conflictOf(conflict, columns, preferences)} RETURNING ${returning}`;
}

function conflictOf(
  conflict: readonly string[] | undefined,
  columns: readonly Column[],
  { resolution }: Preferences,
): string {
  if (conflict === undefined || conflict.length === 0 || resolution === undefined) return '';
  const on = ` ON CONFLICT (${conflict.map(quote).join(', ')})`;
  if (resolution === 'ignore-duplicates' || columns.length === 0) return `${on} DO NOTHING`;
  const sets = columns.map(({ name }) => `${quote(name)} = EXCLUDED.${quote(name)}`);
  return `${on} DO UPDATE SET ${sets.join(', ')} WHERE ${countsUpdate}`;
}

const updatedSoFar = `coalesce(nullif(current_setting('pgrst.updated', true), ''), '0')::int`;
/**
 * Condition that counts an updated row and is always true. Partitioned tables have no system column that distinguishes
 * updates.
 */
const countsUpdate = `set_config('pgrst.updated', (${updatedSoFar} + 1)::text, true) <> ''`;

/** Column expression for the number of inserted rows of an upsert. */
export const insertedRows = `(count(*) - ${updatedSoFar})::text AS inserted`;

/** Returns the value of a column in the body. */
function sentValue({ name, representation }: Column): string {
  const sent = `pgrst_body.${quote(name)}`;
  return representation?.fromJson === undefined ? sent : `${representation.fromJson}(${sent})`;
}

/** Builds an update; undefined when no column changes. */
export function updateStatement(write: Write, limited: string | undefined): string | undefined {
  const { table, returning } = write;
  const columns = writtenColumns(write);
  if (columns.length === 0) return undefined;
  const target = `${quote(table.schema)}.${quote(table.name)}`;
  const sets = columns.map((column) => `${quote(column.name)} = ${sentValue(column)}`);
  const from = `(SELECT * FROM ${bodyOf(write, columns)} LIMIT 1) AS pgrst_body`;
  return `UPDATE ${target} SET ${sets.join(', ')} FROM ${from}${matching(write, limited)} RETURNING ${returning}`;
}

export function deleteStatement(write: Write, limited: string | undefined): string {
  const target = `${quote(write.table.schema)}.${quote(write.table.name)}`;
  return `DELETE FROM ${target}${matching(write, limited)} RETURNING ${write.returning}`;
}

/**
 * Builds the WHERE clause.
 *
 * @param limited statement that selects the `ctid` of the rows of a limited write
 */
function matching({ table, conditions, values }: Write, limited: string | undefined): string {
  const reference = `${quote(table.schema)}.${quote(table.name)}`;
  if (limited !== undefined) return ` WHERE ${reference}.ctid = ANY (ARRAY(${limited}))`;
  const where = whereOf(conditions, { reference, columns: table.columns, embed: () => undefined }, values);
  return where === undefined ? '' : ` WHERE ${where}`;
}

function writtenColumns({ table, payload, columns }: Write): readonly Column[] {
  return (columns ?? payload.keys).map((name) => {
    const column = table.columns.get(name);
    if (column !== undefined) return column;
    throw new RestError(400, 'PGRST204', `Could not find the '${name}' column of '${table.name}' in the schema cache`);
  });
}

/** Returns the objects of the body as rows with the types of the columns. */
function bodyOf({ payload, preferences, values }: Write, columns: readonly Column[]): string {
  let json = values.bind(payload.json, 'json');
  const defaults = columns.filter(({ defaultValue }) => defaultValue !== null);
  if (preferences.missing === 'default' && defaults.length > 0) {
    // Missing keys get the default of the column.
    const pairs = defaults.map(({ name, defaultValue }) => `${literal(name)}, ${defaultValue ?? 'null'}`);
    json = `(SELECT coalesce(json_agg(jsonb_build_object(${pairs.join(', ')}) || pgrst_element), '[]') FROM jsonb_array_elements(${json}::jsonb) pgrst_element)`;
  }
  if (columns.length === 0) return `json_array_elements(${json}) AS pgrst_body`;
  const typeOf = ({ type, representation }: Column): string => (representation?.fromJson === undefined ? type : 'json');
  const types = columns.map((column) => `${quote(column.name)} ${typeOf(column)}`);
  return `json_to_recordset(${json}) AS pgrst_body(${types.join(', ')})`;
}
