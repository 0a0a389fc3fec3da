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
  /** What comes back of each row. */
  readonly returning: string;
}

/** Inserts rows; `conflict` are the columns by which a row may be there already. */
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
/** Counts a row that was there already; always true. No column tells it: partitioned tables have none that does. */
const countsUpdate = `set_config('pgrst.updated', (${updatedSoFar} + 1)::text, true) <> ''`;

/** How many of the rows of an upsert are new, for the list of what a statement answers. */
export const insertedRows = `(count(*) - ${updatedSoFar})::text AS inserted`;

/** A value of the body for its column. */
function sentValue({ name, representation }: Column): string {
  const sent = `pgrst_body.${quote(name)}`;
  return representation?.fromJson === undefined ? sent : `${representation.fromJson}(${sent})`;
}

/** Undefined: there is nothing to change. */
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

/** `limited`: a statement for the places of the first rows, where only so many are meant. */
function matching({ table, conditions, values }: Write, limited: string | undefined): string {
  const reference = `${quote(table.schema)}.${quote(table.name)}`;
  if (limited !== undefined) return ` WHERE ${reference}.ctid = ANY (ARRAY(${limited}))`;
  const where = whereOf(conditions, { reference, columns: table.columns, embed: () => undefined }, values);
  return where === undefined ? '' : ` WHERE ${where}`;
}

/** @throws RestError PGRST204 */
function writtenColumns({ table, payload, columns }: Write): readonly Column[] {
  return (columns ?? payload.keys).map((name) => {
    const column = table.columns.get(name);
    if (column !== undefined) return column;
    throw new RestError(400, 'PGRST204', `Could not find the '${name}' column of '${table.name}' in the schema cache`);
  });
}

/** The objects of the body as rows of the columns' types. */
function bodyOf({ payload, preferences, values }: Write, columns: readonly Column[]): string {
  let json = values.bind(payload.json, 'json');
  const defaults = columns.filter(({ defaultValue }) => defaultValue !== null);
  if (preferences.missing === 'default' && defaults.length > 0) {
    // What is missing in an object has the default of the table.
    const pairs = defaults.map(({ name, defaultValue }) => `${literal(name)}, ${defaultValue ?? 'null'}`);
    json = `(SELECT coalesce(json_agg(jsonb_build_object(${pairs.join(', ')}) || pgrst_element), '[]') FROM jsonb_array_elements(${json}::jsonb) pgrst_element)`;
  }
  if (columns.length === 0) return `json_array_elements(${json}) AS pgrst_body`;
  const typeOf = ({ type, representation }: Column): string => (representation?.fromJson === undefined ? type : 'json');
  const types = columns.map((column) => `${quote(column.name)} ${typeOf(column)}`);
  return `json_to_recordset(${json}) AS pgrst_body(${types.join(', ')})`;
}
