import { buildCurlSnippets } from './curl-snippets.ts';
import { buildJavaScriptSnippets } from './javascript-snippets.ts';
import { buildPythonSnippets } from './python-snippets.ts';
import { buildSampleChange, buildSampleKey, buildSampleRow } from './sample-row.ts';
import type { Operation, SnippetBuilder, SnippetLanguage, SnippetTable } from './snippet-table.ts';

const builders: Readonly<Record<SnippetLanguage, SnippetBuilder>> = {
  js: buildJavaScriptSnippets,
  curl: buildCurlSnippets,
  python: buildPythonSnippets,
};
const maxSelected = 3;

/** Builds the snippets of a table: reading only for a view, and no upsert without a key. */
export function buildSnippets(
  language: SnippetLanguage,
  table: SnippetTable,
): readonly (readonly [Operation, string])[] {
  const { columns, isView, hasKey } = table;
  const [key, row] = [buildSampleKey(columns), buildSampleRow(columns)];
  const snippets = builders[language](table, {
    selected: columns.slice(0, maxSelected).map(({ name }) => name),
    order: key[0]?.[0] ?? '',
    key,
    row,
    keyedRow: [...key, ...row.filter(([name]) => !key.some(([keyName]) => keyName === name))],
    change: buildSampleChange(columns),
  });
  const operations: readonly Operation[] = isView
    ? ['setup', 'select', 'filter']
    : ['setup', 'select', 'filter', 'insert', 'update', ...(hasKey ? (['upsert'] as const) : []), 'remove'];
  // curl needs no preparation.
  return operations.flatMap((operation) => (snippets[operation] === '' ? [] : [[operation, snippets[operation]]]));
}
