import { plainLines, parseHighlightMarkup, type Token } from '../../parts/text/highlight-tokens.ts';

/** Longer texts are shown plain: they are coloured anew at each key that is pressed. */
const longest = 20_000;

/** Colours the lines of statements. */
export type ColourSql = (text: string) => readonly (readonly Token[])[];

/** What PostgreSQL's words look like; it comes when statements are written, with no other language. */
export async function loadSqlColours(): Promise<ColourSql> {
  const [{ default: library }, { default: pgsql }] = await Promise.all([
    import('highlight.js/lib/core'),
    import('highlight.js/lib/languages/pgsql'),
  ]);
  library.registerLanguage('pgsql', pgsql);
  return (text) =>
    text.length > longest
      ? plainLines(text)
      : parseHighlightMarkup(library.highlight(text, { language: 'pgsql', ignoreIllegals: true }).value).map(
          withoutTypes,
        );
}

/** `name` and `date` are types, and more often columns. */
function withoutTypes(line: readonly Token[]): readonly Token[] {
  return line.map((run) => (run.kind === 'type' ? { ...run, kind: '' } : run));
}
