/** Latin letters that Unicode does not decompose, in the spelling that people type without them. */
const ligatures: Readonly<Record<string, string>> = { œ: 'oe', æ: 'ae', ß: 'ss' };

/** Returns a text for comparisons that ignore case, accents and typographic apostrophes: `Énergie` becomes `energie`. */
export function foldText(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replaceAll(/[œæß]/g, (letter) => ligatures[letter] ?? letter)
    .replaceAll('’', "'");
}

/** Returns the words of a search, folded for comparisons with folded texts. */
export function splitTerms(query: string): readonly string[] {
  return foldText(query).split(/\s+/).filter(Boolean);
}

/** True when the text contains all words of the search in any order, without regard to case and accents. */
export function containsTerms(text: string, query: string): boolean {
  const folded = foldText(text);
  return splitTerms(query).every((term) => folded.includes(term));
}
