import * as m from '#messages/data-problems';
import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import { quote } from '../postgrest-api/statement/sql.ts';
import { formatRefusal } from '../schema/refusal.ts';
import { asText, getColumn } from './row-statements.ts';
import type { TableShape } from './table-shape.ts';

/** Maximum number of rows that a search returns. */
const maxMatches = 20;
/** Maximum number of columns that describe a row, and maximum length of each value in characters. */
const maxLabelColumns = 2;
const maxLabelLength = 80;

const labelColumnsQuery = `
select a.attname as name
from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1 and c.relname = $2 and a.attnum > 0 and not a.attisdropped and a.attname <> $3
  and a.atttypid in ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'name'::regtype)
order by (a.attname !~* '(name|title|label|email|slug|subject)'), a.attnum`;

/** Columns that are never shown, because they hold secrets: those of `auth.users`. */
const secretColumn = /password|token|secret/i;

interface Match {
  readonly value: string;
  readonly label: string;
}

/**
 * Searches the rows of the table that a foreign key column refers to, by the referenced value and by text columns.
 *
 * @throws Problem `data.no_reference` (404), `data.refused` (409) when the referenced table cannot be read
 */
export async function findReferences(
  client: pg.ClientBase,
  shape: TableShape,
  { column, search }: { readonly column: string; readonly search: string },
): Promise<{ matches: Match[] }> {
  const { reference } = getColumn(shape.columns, column);
  if (reference === null) throw new Problem('data.no_reference', 404, m.columnWithoutReference({ name: column }));
  const { rows: columns } = await client.query<{ name: string }>(labelColumnsQuery, [
    reference.schema,
    reference.name,
    reference.column,
  ]);
  const labels = columns
    .map(({ name }) => name)
    .filter((name) => !secretColumn.test(name))
    .slice(0, maxLabelColumns);
  const text = buildSearch(`${quote(reference.schema)}.${quote(reference.name)}`, reference.column, labels);
  try {
    const { rows } = await client.query<Match>({ text, values: [search], types: asText });
    return { matches: rows };
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw new Problem('data.refused', 409, m.rejectedByPostgres({ reason: formatRefusal(error) }), { cause: error });
  }
}

function buildSearch(table: string, column: string, labels: readonly string[]): string {
  const value = `r.${quote(column)}::text`;
  const parts = labels.map((name) => `nullif(left(r.${quote(name)}, ${maxLabelLength}), '')`);
  const label = parts.length === 0 ? `''` : `concat_ws(', ', ${parts.join(', ')})`;
  const conditions = [value, ...labels.map((name) => `r.${quote(name)}`)].map(
    (each) => `strpos(lower(${each}), lower($1)) > 0`,
  );
  return (
    `select ${value} as value, ${label} as label from ${table} r ` +
    `where r.${quote(column)} is not null and ($1 = '' or ${conditions.join(' or ')}) ` +
    // The exact value precedes values that only contain the text.
    `order by (${value} = $1) desc, r.${quote(column)} limit ${maxMatches}`
  );
}
