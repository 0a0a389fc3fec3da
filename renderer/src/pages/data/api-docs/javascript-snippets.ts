import type { SampleRow, SampleValue } from './sample-row.ts';
import { quoteColumn, type SnippetBuilder } from './snippet-table.ts';

/** Builds the snippets for supabase-js. */
export const buildJavaScriptSnippets: SnippetBuilder = (table, { selected, order, key, row, keyedRow, change }) => {
  const { url, key: apiKey, schema, isDefaultSchema, name } = table;
  const source = `supabase${isDefaultSchema ? '' : `.schema(${quote(schema)})`}.from(${quote(name)})`;
  const call = (...steps: readonly string[]): string =>
    `const { data, error } = await ${source}\n${steps.map((step) => `  .${step}`).join('\n')};`;
  const matches = key.map(([column, value]) => `eq(${quote(quoteColumn(column))}, ${formatValue(value)})`);
  return {
    setup: `import { createClient } from '@supabase/supabase-js';

const supabase = createClient(
  ${quote(url)},
  ${quote(apiKey)},
);`,
    select: call(
      `select(${quote(selected.map(quoteColumn).join(', '))})`,
      `order(${quote(quoteColumn(order))})`,
      'range(0, 19)',
    ),
    filter: call('select()', ...matches),
    insert: call(`insert(${formatRow(row)})`, 'select()'),
    update: call(`update(${formatRow(change)})`, ...matches, 'select()'),
    upsert: call(`upsert(${formatRow(keyedRow)})`, 'select()'),
    remove: call('delete()', ...matches),
  };
};

function quote(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function formatValue(value: SampleValue): string {
  if (typeof value === 'string') return quote(value);
  return Array.isArray(value) ? `[${value.map((item: string) => quote(item)).join(', ')}]` : JSON.stringify(value);
}

function formatRow(row: SampleRow): string {
  return `{ ${row.map(([name, value]) => `${formatKey(name)}: ${formatValue(value)}`).join(', ')} }`;
}

function formatKey(name: string): string {
  // A plain key with this name would set the prototype.
  if (name === '__proto__') return `['__proto__']`;
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : quote(name);
}
