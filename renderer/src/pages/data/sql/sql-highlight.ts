import { plainLines, parseHighlightMarkup, type Token } from '../../../parts/text/highlight-tokens.ts';

/** Maximum length of highlighted text in characters, because every key press highlights all of it. */
const maxLength = 20_000;

/** Highlights the lines of SQL statements. */
export type SqlHighlighter = (text: string) => readonly (readonly Token[])[];

/** Loads the highlighter with the PostgreSQL grammar only. */
export async function loadSqlHighlighter(): Promise<SqlHighlighter> {
  const [{ default: library }, { default: pgsql }] = await Promise.all([
    import('highlight.js/lib/core'),
    import('highlight.js/lib/languages/pgsql'),
  ]);
  library.registerLanguage('pgsql', pgsql);
  return (text) =>
    text.length > maxLength
      ? plainLines(text)
      : parseHighlightMarkup(library.highlight(text, { language: 'pgsql', ignoreIllegals: true }).value).map(
          withoutTypes,
        );
}

/** Removes the highlighting of types: `name` and `date` are more often columns. */
function withoutTypes(line: readonly Token[]): readonly Token[] {
  return line.map((run) => (run.kind === 'type' ? { ...run, kind: '' } : run));
}
