/** Compiled pattern that matches names. */
export interface Glob {
  test(name: string): boolean;
}

/** Matches one character, or any number of them. */
type Token = { readonly one: (letter: string) => boolean } | { readonly many: (letter: string) => boolean };

/** Maximum number of alternatives that the braces of a pattern expand to. */
const maxAlternatives = 100;

/**
 * Compiles a pattern for names such as `release/*` with Gitea's syntax: `?` and `*` match within a path segment if
 * `bySegment` is set, `**` matches across segments, `{a,b}` matches either alternative, `[a-z]` matches one character.
 * Returns undefined if the pattern is invalid. Matching takes time proportional to the length of the name times the
 * length of the pattern for all inputs, because accounts write patterns and others choose the names.
 */
export function compileGlob(text: string, { bySegment }: { readonly bySegment: boolean }): Glob | undefined {
  const expanded = expandBraces(text);
  if (expanded === undefined) return undefined;
  const patterns = expanded.map((each) => parseTokens(each, bySegment));
  if (patterns.some((pattern) => pattern === undefined)) return undefined;
  return {
    test: (name) => patterns.some((pattern) => pattern !== undefined && matchTokens(pattern, Array.from(name))),
  };
}

/** Expands the braces of a pattern. Returns undefined if a brace is not closed or there are too many alternatives. */
function expandBraces(text: string): readonly string[] | undefined {
  const open = text.indexOf('{');
  if (open < 0) return [text];
  const parts: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let index = open; index < text.length; index += 1) {
    const letter = text[index];
    if (letter === '{') depth += 1;
    else if (letter === ',' && depth === 1) {
      parts.push(text.slice(from, index));
      from = index + 1;
    } else if (letter === '}') {
      depth -= 1;
      if (depth > 0) continue;
      parts.push(text.slice(from, index));
      const [before, after] = [text.slice(0, open), text.slice(index + 1)];
      const all: string[] = [];
      for (const part of parts) {
        const expanded = expandBraces(before + part + after);
        if (expanded === undefined || all.length + expanded.length > maxAlternatives) return undefined;
        all.push(...expanded);
      }
      return all;
    }
  }
  return undefined;
}

function parseTokens(text: string, bySegment: boolean): readonly Token[] | undefined {
  const any = (): boolean => true;
  const inSegment = bySegment ? (letter: string): boolean => letter !== '/' : any;
  const result: Token[] = [];
  const characters = Array.from(text);
  for (let index = 0; index < characters.length; index += 1) {
    const letter = characters[index] ?? '';
    if (letter === '*') {
      const isDeep = characters[index + 1] === '*';
      result.push({ many: isDeep ? any : inSegment });
      if (isDeep) index += 1;
    } else if (letter === '?') result.push({ one: inSegment });
    else if (letter === '[') {
      const end = characters.indexOf(']', index + 2);
      const one = end < 0 ? undefined : compileCharacterClass(characters.slice(index + 1, end).join(''));
      if (one === undefined) return undefined;
      result.push({ one });
      index = end;
    } else result.push({ one: (other) => other === letter });
  }
  return result;
}

/** Returns undefined if a range ends before it starts. */
function compileCharacterClass(text: string): ((letter: string) => boolean) | undefined {
  const source = text.replaceAll(/[\\^\]]/g, String.raw`\$&`).replace(/^!/, '^');
  try {
    const pattern = new RegExp(`^[${source}]$`, 'u');
    return (letter) => pattern.test(letter);
  } catch {
    return undefined;
  }
}

/** Tracks the set of pattern indexes that the characters read so far can reach. */
function matchTokens(pattern: readonly Token[], name: readonly string[]): boolean {
  let positions = addEmptyMatches(pattern, new Set([0]));
  for (const letter of name) {
    const next = new Set<number>();
    for (const index of positions) {
      const token = pattern[index];
      if (token === undefined) continue;
      if ('one' in token) {
        if (token.one(letter)) next.add(index + 1);
      } else if (token.many(letter)) next.add(index);
    }
    if (next.size === 0) return false;
    positions = addEmptyMatches(pattern, next);
  }
  return positions.has(pattern.length);
}

/** Adds the indexes that follow tokens which match nothing. */
function addEmptyMatches(pattern: readonly Token[], positions: Set<number>): Set<number> {
  for (const index of positions) {
    const token = pattern[index];
    // A set that grows during the iteration is iterated to its end.
    if (token !== undefined && 'many' in token) positions.add(index + 1);
  }
  return positions;
}
