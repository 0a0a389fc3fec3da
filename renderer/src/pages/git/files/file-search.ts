/** Maximum number of listed files. */
const maxResults = 100;

/** Finds the files whose paths contain the typed characters in order; those with matching names first. */
export function searchFiles(paths: readonly string[], query: string): readonly string[] {
  const typed = query.toLowerCase().replaceAll(/\s+/g, '');
  if (typed === '') return paths.slice(0, maxResults);
  const matches: { readonly path: string; readonly score: number }[] = [];
  for (const path of paths) {
    const score = rank(path.toLowerCase(), typed);
    if (score !== undefined) matches.push({ path, score });
  }
  return matches
    .toSorted((one, other) => one.score - other.score || one.path.length - other.path.length)
    .slice(0, maxResults)
    .map(({ path }) => path);
}

/** Returns a rank, 0 for the best one, or undefined if the characters are not in the path. */
function rank(path: string, typed: string): number | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name === typed) return 0;
  if (name.startsWith(typed)) return 1;
  if (name.includes(typed)) return 2;
  if (path.includes(typed)) return 3;
  const spread = measureSpread(path, typed);
  return spread === undefined ? undefined : 4 + spread;
}

/** Returns the number of characters between the first and the last match that do not match. */
function measureSpread(path: string, typed: string): number | undefined {
  let position = -1;
  let start = 0;
  for (const [index, character] of [...typed].entries()) {
    position = path.indexOf(character, position + 1);
    if (position < 0) return undefined;
    if (index === 0) start = position;
  }
  return position - start + 1 - typed.length;
}
