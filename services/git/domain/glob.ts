/** Compiled pattern that matches names. */
export interface Glob {
  test(name: string): boolean;
}

/** Matches one character, or any number of them. */
type Token = { readonly one: (letter: string) => boolean } | { readonly many: (letter: string) => boolean };

/** Maximum number of alternatives that the braces of a pattern expand to. */
const mostAlternatives = 100;

/**
 * Compiles a pattern for names such as `release/*` with Gitea's syntax: `?` and `*` match within a path segment if
 * `bySegment` is set, `**` matches across segments, `{a,b}` matches either alternative, `[a-z]` matches one character.
 * Returns undefined if the pattern is invalid. Matching takes time proportional to the length of the name times the
 * length of the pattern for all inputs, because accounts write patterns and others choose the names.
 */
export function globPattern(text: string, { parted }: { readonly parted: boolean }): Glob | undefined {
  const plain = alternatives(text);
  if (plain === undefined) return undefined;
  const patterns = plain.map((each) => tokens(each, parted));
  if (patterns.some((pattern) => pattern === undefined)) return undefined;
  return { test: (name) => patterns.some((pattern) => pattern !== undefined && matches(pattern, Array.from(name))) };
}

/** Expands the braces of a pattern. Returns undefined if a brace is not closed or there are too many alternatives. */
function alternatives(text: string): readonly string[] | undefined {
  const open = text.indexOf('{');
  if (open < 0) return [text];
  const parts: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '{') depth += 1;
    else if (letter === ',' && depth === 1) {
      parts.push(text.slice(from, at));
      from = at + 1;
    } else if (letter === '}') {
      depth -= 1;
      if (depth > 0) continue;
      parts.push(text.slice(from, at));
      const [before, after] = [text.slice(0, open), text.slice(at + 1)];
      const all: string[] = [];
      for (const part of parts) {
        const expanded = alternatives(before + part + after);
        if (expanded === undefined || all.length + expanded.length > mostAlternatives) return undefined;
        all.push(...expanded);
      }
      return all;
    }
  }
  return undefined;
}

function tokens(text: string, parted: boolean): readonly Token[] | undefined {
  const any = (): boolean => true;
  const within = parted ? (letter: string): boolean => letter !== '/' : any;
  const found: Token[] = [];
  const letters = Array.from(text);
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? '';
    if (letter === '*') {
      const isDeep = letters[at + 1] === '*';
      found.push({ many: isDeep ? any : within });
      if (isDeep) at += 1;
    } else if (letter === '?') found.push({ one: within });
    else if (letter === '[') {
      const end = letters.indexOf(']', at + 2);
      const one = end < 0 ? undefined : letterClass(letters.slice(at + 1, end).join(''));
      if (one === undefined) return undefined;
      found.push({ one });
      at = end;
    } else found.push({ one: (other) => other === letter });
  }
  return found;
}

/** Returns undefined if a range ends before it starts. */
function letterClass(text: string): ((letter: string) => boolean) | undefined {
  const source = text.replaceAll(/[\\^\]]/g, String.raw`\$&`).replace(/^!/, '^');
  try {
    const pattern = new RegExp(`^[${source}]$`, 'u');
    return (letter) => pattern.test(letter);
  } catch {
    return undefined;
  }
}

/** Tracks the set of pattern indexes that the characters read so far can reach. */
function matches(pattern: readonly Token[], name: readonly string[]): boolean {
  let places = onward(pattern, new Set([0]));
  for (const letter of name) {
    const next = new Set<number>();
    for (const at of places) {
      const token = pattern[at];
      if (token === undefined) continue;
      if ('one' in token) {
        if (token.one(letter)) next.add(at + 1);
      } else if (token.many(letter)) next.add(at);
    }
    if (next.size === 0) return false;
    places = onward(pattern, next);
  }
  return places.has(pattern.length);
}

/** Adds the indexes that follow tokens which match nothing. */
function onward(pattern: readonly Token[], places: Set<number>): Set<number> {
  for (const at of places) {
    const token = pattern[at];
    // A set that grows during the iteration is iterated to its end.
    if (token !== undefined && 'many' in token) places.add(at + 1);
  }
  return places;
}
