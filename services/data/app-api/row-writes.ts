import * as m from '#messages/data-problems';
import type pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import { quote } from '../postgrest-api/statement/sql.ts';
import { withRefusals, type Values } from './refusals.ts';
import {
  asText,
  buildKeyCondition,
  buildListColumns,
  createUnknownRowError,
  getColumn,
  readRow,
} from './row-statements.ts';
import type { TableShape } from './table-shape.ts';

/** Change of a row: new values, columns that are set to their default, and the values that the caller saw before. */
export interface RowChange {
  readonly key: Values;
  readonly values: Values;
  readonly defaults: readonly string[];
  readonly expected: Values;
}

/** Inserts a row; columns without a value get their default. */
export async function insertRow(client: pg.ClientBase, shape: TableShape, values: Values): Promise<void> {
  const names = getWritableNames(shape, Object.keys(values));
  const placeholders = names.map((_, index) => `$${index + 1}`).join(', ');
  const text = names.length === 0 ? 'default values' : `(${names.map(quote).join(', ')}) values (${placeholders})`;
  await withRefusals(client, shape, values, async () => {
    await client.query(
      `insert into ${shape.reference} ${text}`,
      names.map((name) => values[name] ?? null),
    );
    await checkDeferredConstraints(client);
  });
}

/**
 * Changes columns of a row and returns it as listed; null when there was nothing to change.
 *
 * @throws Problem `data.unknown_row` (404), `data.row_changed` (409) with the stored values by column in `fields`
 */
export async function changeRow(
  client: pg.ClientBase,
  shape: TableShape,
  { key, values, defaults, expected }: RowChange,
): Promise<(string | null)[] | null> {
  const valueNames = getWritableNames(shape, Object.keys(values)).filter((name) => !defaults.includes(name));
  const defaultNames = getWritableNames(shape, defaults);
  if (valueNames.length + defaultNames.length === 0) return null;
  const parameters: (string | null)[] = valueNames.map((name) => values[name] ?? null);
  const assignments = [
    ...valueNames.map((name, index) => `${quote(name)} = $${index + 1}`),
    ...defaultNames.map((name) => `${quote(name)} = default`),
  ];
  const conditions = [
    buildKeyCondition(shape, key, parameters),
    ...Object.entries(expected).map(([name, value]) => {
      parameters.push(value);
      // Compared as text, because types such as json have no equality operator.
      return `${quote(getColumn(shape.columns, name).name)}::text is not distinct from $${parameters.length}::text`;
    }),
  ];
  const text =
    `update ${shape.reference} t set ${assignments.join(', ')} where ${conditions.join(' and ')} ` +
    `returning ${buildListColumns(shape)}`;
  const { rows } = await withRefusals(client, shape, values, async () => {
    const result = await client.query<(string | null)[]>({ text, values: parameters, rowMode: 'array', types: asText });
    await checkDeferredConstraints(client);
    return result;
  });
  if (rows[0] === undefined) throw await explainMissingRow(client, shape, key, expected);
  return rows[0];
}

/** Explains why no row matched: it was deleted, or an expected value is no longer the stored one. */
async function explainMissingRow(
  client: pg.ClientBase,
  shape: TableShape,
  key: Values,
  expected: Values,
): Promise<Problem> {
  const stored = await readRow(client, shape, key);
  const changed = Object.keys(expected).filter((name) => stored[name] !== expected[name]);
  // The row was replaced between the two statements.
  if (changed.length === 0) return createUnknownRowError();
  const fields = changed.map((name) => {
    const value = stored[name] ?? null;
    return [name, value === null ? m.valueChangedToNull() : m.valueChanged({ value: shorten(value) })] as const;
  });
  return new Problem('data.row_changed', 409, m.rowChanged({ name: changed.join(', ') }), {
    fields: Object.fromEntries(fields),
  });
}

const maxShownLength = 100;

function shorten(value: string): string {
  return value.length > maxShownLength ? `${value.slice(0, maxShownLength)}…` : value;
}

/** Removes rows and returns the number of those that existed. */
export async function removeRows(client: pg.ClientBase, shape: TableShape, keys: readonly Values[]): Promise<number> {
  let removed = 0;
  for (const key of keys) {
    const values: (string | null)[] = [];
    const where = buildKeyCondition(shape, key, values);
    const { rowCount } = await withRefusals(client, shape, {}, () =>
      client.query(`delete from ${shape.reference} where ${where}`, values),
    );
    removed += rowCount ?? 0;
  }
  await withRefusals(client, shape, {}, () => checkDeferredConstraints(client));
  return removed;
}

/** Checks deferred constraints now, because an error of the commit could not be explained. */
async function checkDeferredConstraints(client: pg.ClientBase): Promise<void> {
  await client.query('set constraints all immediate');
}

function getWritableNames({ columns, isView }: TableShape, names: readonly string[]): readonly string[] {
  if (isView) throw new Problem('data.view', 409, m.viewReadOnly());
  return names.filter((name) => !getColumn(columns, name).isGenerated);
}
