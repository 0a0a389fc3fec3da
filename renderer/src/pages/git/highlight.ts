import { plainLines, parseHighlightMarkup, type Token } from '../../parts/text/highlight-tokens.ts';

/** Longer texts are shown plain: colouring them would hold the page. */
const longest = 100_000;

/** The lines of a text, coloured where its name tells a language that is known. The highlighter comes only when it is needed. */
export async function highlight(text: string, path: string): Promise<readonly (readonly Token[])[]> {
  if (text.length > longest) return plainLines(text);
  const { default: library } = await import('highlight.js/lib/common');
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const language = [name, name.slice(name.lastIndexOf('.') + 1)].find(
    (each) => library.getLanguage(each) !== undefined,
  );
  if (language === undefined) return plainLines(text);
  return parseHighlightMarkup(library.highlight(text, { language, ignoreIllegals: true }).value);
}
