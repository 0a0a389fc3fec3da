import * as m from '#messages/data-problems';
import type pg from 'pg';
import type { DataColumn } from '../../contracts/data/rows.ts';
import { Problem } from '../../contracts/problem.ts';
import { quote } from '../postgrest-api/statement/sql.ts';
import { withRefusals, type Values } from './refusals.ts';
import type { TableShape } from './table-shape.ts';

/** Maximum length of a value in a list, characters. Key values are complete, because they identify rows. */
const maxValueLength = 300;

/** Types of a statement whose values are returned in PostgreSQL's text format. */
export const asText = { getTypeParser: () => (text: string) => text };

/** Builds the columns of a listed row, with truncated values. The table has the alias `t`. */
export function buildListColumns({ columns }: TableShape): string {
  return columns
    .map(({ name, isKey }) => {
      const text = `t.${quote(name)}::text`;
      return `${isKey ? text : `left(${text}, ${maxValueLength})`} as ${quote(name)}`;
    })
    .join(', ');
}

/** Builds the condition that identifies a row, and adds its values. @throws Problem `data.no_key` (409). */
export function buildKeyCondition({ columns }: TableShape, key: Values, values: (string | null)[]): string {
  const names = columns.filter(({ isKey }) => isKey).map(({ name }) => name);
  if (names.length === 0) {
    throw new Problem('data.no_key', 409, m.primaryKeyMissing());
  }
  return names
    .map((name) => {
      values.push(key[name] ?? null);
      return `${quote(name)} = $${values.length}`;
    })
    .join(' and ');
}

/** Reads the complete values of a row. @throws Problem `data.unknown_row` (404). */
export async function readRow(
  client: pg.ClientBase,
  shape: TableShape,
  key: Values,
): Promise<Record<string, string | null>> {
  const values: (string | null)[] = [];
  const where = buildKeyCondition(shape, key, values);
  const selected = shape.columns.map(({ name }) => `${quote(name)}::text as ${quote(name)}`).join(', ');
  const { rows } = await withRefusals(client, shape, {}, () =>
    client.query<Record<string, string | null>>({
      text: `select ${selected} from ${shape.reference} where ${where}`,
      values,
      types: asText,
    }),
  );
  if (rows[0] === undefined) throw createUnknownRowError();
  return rows[0];
}

/** Returns the column of this name. @throws Problem `data.unknown_column` (404). */
export function getColumn(columns: readonly DataColumn[], name: string): DataColumn {
  const column = columns.find((each) => each.name === name);
  if (column !== undefined) return column;
  throw new Problem('data.unknown_column', 404, m.columnNotFound({ name }));
}

export function createUnknownRowError(): Problem {
  return new Problem('data.unknown_row', 404, m.rowNotFound());
}
