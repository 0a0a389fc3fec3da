import { RestError } from '../errors.ts';
import type { Payload } from '../parse/body.ts';
import type { Condition } from '../parse/filters.ts';
import type { Preferences } from '../parse/preferences.ts';
import type { Column, Table } from '../schema/catalogue.ts';
import { buildWhere } from './conditions.ts';
import { quoteLiteral, quote, type Values } from './sql.ts';

export interface WriteInput {
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
export function buildInsert(write: WriteInput, conflict: readonly string[] | undefined): string {
  const { table, payload, preferences, returning } = write;
  const target = `${quote(table.schema)}.${quote(table.name)}`;
  const columns = getWrittenColumns(write);
  const names = columns.map(({ name }) => quote(name));
  const from =
    names.length > 0
      ? `(${names.join(', ')}) SELECT ${columns.map(getBodyValue).join(', ')} FROM ${buildBodyRows(write, columns)}`
      : // An object without keys is a row of defaults.
        payload.count === 1
        ? 'DEFAULT VALUES'
        : `SELECT FROM ${buildBodyRows(write, columns)} WHERE false`;
  return `INSERT INTO ${target} ${from}${buildConflict(conflict, columns, preferences)} RETURNING ${returning}`;
}

function buildConflict(
  conflict: readonly string[] | undefined,
  columns: readonly Column[],
  { resolution }: Preferences,
): string {
  if (conflict === undefined || conflict.length === 0 || resolution === undefined) return '';
  const on = ` ON CONFLICT (${conflict.map(quote).join(', ')})`;
  if (resolution === 'ignore-duplicates' || columns.length === 0) return `${on} DO NOTHING`;
  const sets = columns.map(({ name }) => `${quote(name)} = EXCLUDED.${quote(name)}`);
  return `${on} DO UPDATE SET ${sets.join(', ')} WHERE ${countUpdate}`;
}

const updatedCount = `coalesce(nullif(current_setting('pgrst.updated', true), ''), '0')::int`;
/**
 * Condition that counts an updated row and is always true. Partitioned tables have no system column that distinguishes
 * updates.
 */
const countUpdate = `set_config('pgrst.updated', (${updatedCount} + 1)::text, true) <> ''`;

/** Column expression for the number of inserted rows of an upsert. */
export const insertedRowsColumn = `(count(*) - ${updatedCount})::text AS inserted`;

/** Returns the value of a column in the body. */
function getBodyValue({ name, representation }: Column): string {
  const sent = `pgrst_body.${quote(name)}`;
  return representation?.fromJson === undefined ? sent : `${representation.fromJson}(${sent})`;
}

/** Builds an update; undefined when no column changes. */
export function buildUpdate(write: WriteInput, limitedRows: string | undefined): string | undefined {
  const { table, returning } = write;
  const columns = getWrittenColumns(write);
  if (columns.length === 0) return undefined;
  const target = `${quote(table.schema)}.${quote(table.name)}`;
  const sets = columns.map((column) => `${quote(column.name)} = ${getBodyValue(column)}`);
  const from = `(SELECT * FROM ${buildBodyRows(write, columns)} LIMIT 1) AS pgrst_body`;
  return `UPDATE ${target} SET ${sets.join(', ')} FROM ${from}${buildWhereClause(write, limitedRows)} RETURNING ${returning}`;
}

export function buildDelete(write: WriteInput, limitedRows: string | undefined): string {
  const target = `${quote(write.table.schema)}.${quote(write.table.name)}`;
  return `DELETE FROM ${target}${buildWhereClause(write, limitedRows)} RETURNING ${write.returning}`;
}

/**
 * Builds the WHERE clause.
 *
 * @param limitedRows statement that selects the `ctid` of the rows of a limited write
 */
function buildWhereClause({ table, conditions, values }: WriteInput, limitedRows: string | undefined): string {
  const reference = `${quote(table.schema)}.${quote(table.name)}`;
  if (limitedRows !== undefined) return ` WHERE ${reference}.ctid = ANY (ARRAY(${limitedRows}))`;
  const where = buildWhere(conditions, { reference, columns: table.columns, embed: () => undefined }, values);
  return where === undefined ? '' : ` WHERE ${where}`;
}

function getWrittenColumns({ table, payload, columns }: WriteInput): readonly Column[] {
  return (columns ?? payload.keys).map((name) => {
    const column = table.columns.get(name);
    if (column !== undefined) return column;
    throw new RestError(400, 'PGRST204', `Could not find the '${name}' column of '${table.name}' in the schema cache`);
  });
}

/** Returns the objects of the body as rows with the types of the columns. */
function buildBodyRows({ payload, preferences, values }: WriteInput, columns: readonly Column[]): string {
  let json = values.bind(payload.json, 'json');
  const defaults = columns.filter(({ defaultValue }) => defaultValue !== null);
  if (preferences.missing === 'default' && defaults.length > 0) {
    // Missing keys get the default of the column.
    const pairs = defaults.map(({ name, defaultValue }) => `${quoteLiteral(name)}, ${defaultValue ?? 'null'}`);
    json = `(SELECT coalesce(json_agg(jsonb_build_object(${pairs.join(', ')}) || pgrst_element), '[]')
      FROM jsonb_array_elements(${json}::jsonb) pgrst_element)`;
  }
  if (columns.length === 0) return `json_array_elements(${json}) AS pgrst_body`;
  const getColumnType = ({ type, representation }: Column): string =>
    representation?.fromJson === undefined ? type : 'json';
  const types = columns.map((column) => `${quote(column.name)} ${getColumnType(column)}`);
  return `json_to_recordset(${json}) AS pgrst_body(${types.join(', ')})`;
}
