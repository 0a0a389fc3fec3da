import type { SampleRow, SampleValue } from './sample-row.ts';
import { quoteColumn, type SnippetBuilder } from './snippet-table.ts';

/** Builds the snippets for the Python client of Supabase. */
export const buildPythonSnippets: SnippetBuilder = (table, { selected, order, key, row, keyedRow, change }) => {
  const { url, key: apiKey, schema, isDefaultSchema, name } = table;
  const source = `supabase${isDefaultSchema ? '' : `.schema(${quote(schema)})`}.table(${quote(name)})`;
  const call = (...steps: readonly string[]): string =>
    `response = (\n    ${source}\n${[...steps, 'execute()'].map((step) => `    .${step}`).join('\n')}\n)`;
  const matches = key.map(([column, value]) => `eq(${quote(quoteColumn(column))}, ${formatValue(value)})`);
  return {
    setup: `from supabase import create_client

supabase = create_client(
    ${quote(url)},
    ${quote(apiKey)},
)`,
    select: call(
      `select(${selected.map((column) => quote(quoteColumn(column))).join(', ')})`,
      `order(${quote(quoteColumn(order))})`,
      'range(0, 19)',
    ),
    filter: call('select("*")', ...matches),
    insert: call(`insert(${formatRow(row)})`),
    update: call(`update(${formatRow(change)})`, ...matches),
    upsert: call(`upsert(${formatRow(keyedRow)})`),
    remove: call('delete()', ...matches),
  };
};

// JSON strings are valid in Python: both languages have the same escapes.
const quote = (text: string): string => JSON.stringify(text);

function formatValue(value: SampleValue): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

function formatRow(row: SampleRow): string {
  return `{${row.map(([name, value]) => `${quote(name)}: ${formatValue(value)}`).join(', ')}}`;
}
