import { plainLines, parseHighlightMarkup, type Token } from '../../../parts/text/highlight-tokens.ts';

/** Maximum length of highlighted text in characters: longer texts would block the page. */
const maxLength = 100_000;

/** Languages of extensions that the highlighter does not know: components are HTML with scripts and styles. */
const languageAliases: Readonly<Record<string, string>> = {
  svelte: 'xml',
  vue: 'xml',
  astro: 'xml',
  mts: 'typescript',
  cts: 'typescript',
};

/** Highlights a text by the language of its file name. Loads the highlighter on first use. */
export async function highlight(text: string, path: string): Promise<readonly (readonly Token[])[]> {
  if (text.length > maxLength) return plainLines(text);
  const { default: library } = await import('highlight.js/lib/common');
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const extension = name.slice(name.lastIndexOf('.') + 1);
  const language = [name, languageAliases[extension] ?? extension].find(
    (each) => library.getLanguage(each) !== undefined,
  );
  if (language === undefined) return plainLines(text);
  return parseHighlightMarkup(library.highlight(text, { language, ignoreIllegals: true }).value);
}
