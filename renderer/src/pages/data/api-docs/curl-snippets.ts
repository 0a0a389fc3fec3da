import { quoteForShell } from '../../../../../services/contracts/shell-quote.ts';
import type { SampleRow, SampleValue } from './sample-row.ts';
import { quoteColumn, type SnippetBuilder } from './snippet-table.ts';

/** Builds the snippets for curl. */
export const buildCurlSnippets: SnippetBuilder = (table, { selected, order, key, row, keyedRow, change }) => {
  const address = `${table.url}/rest/v1/${encodeURIComponent(table.name)}`;
  const matches = key.map(
    ([column, value]) => `${encodeURIComponent(quoteColumn(column))}=eq.${encodeURIComponent(toText(value))}`,
  );
  const build = (
    query: readonly string[],
    { method, body, prefer }: { readonly method?: string; readonly body?: SampleRow; readonly prefer?: string } = {},
  ): string => {
    const profile = body === undefined && method === undefined ? 'Accept-Profile' : 'Content-Profile';
    const headers = [
      `apikey: ${table.key}`,
      ...(table.isDefaultSchema ? [] : [`${profile}: ${table.schema}`]),
      ...(body === undefined ? [] : ['Content-Type: application/json']),
      ...(prefer === undefined ? [] : [`Prefer: ${prefer}`]),
    ];
    const target = query.length === 0 ? address : `${address}?${query.join('&')}`;
    return [
      `curl ${method === undefined ? '' : `-X ${method} `}${quoteForShell(target)}`,
      ...headers.map((header) => `  -H ${quoteForShell(header)}`),
      ...(body === undefined ? [] : [`  -d ${quoteForShell(formatRow(body))}`]),
    ].join(' \\\n');
  };
  const columns = selected.map((column) => encodeURIComponent(quoteColumn(column))).join(',');
  return {
    setup: '',
    select: build([`select=${columns}`, `order=${encodeURIComponent(quoteColumn(order))}`, 'limit=20']),
    filter: build(matches),
    insert: build([], { method: 'POST', body: row, prefer: 'return=representation' }),
    update: build(matches, { method: 'PATCH', body: change, prefer: 'return=representation' }),
    upsert: build([], {
      method: 'POST',
      body: keyedRow,
      prefer: 'resolution=merge-duplicates,return=representation',
    }),
    remove: build(matches, { method: 'DELETE' }),
  };
};

const toText = (value: SampleValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

function formatRow(row: SampleRow): string {
  return `{${row.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
}
