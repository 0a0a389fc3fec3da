/** A pattern for names, which it takes or not. */
export interface Glob {
  test(name: string): boolean;
}

/** A letter that fits, or any number of them. */
type Token = { readonly one: (letter: string) => boolean } | { readonly many: (letter: string) => boolean };

/** What `{a,b}` may come to, all together. */
const mostAlternatives = 100;

/**
 * A pattern for names such as `release/*` as the peer writes them: `?` and `*` stay within what `/` parts where `parted`,
 * `**` does not, `{a,b}` is either, `[a-z]` one letter. Undefined for what is no pattern. It takes time by the length of
 * the name times that of the pattern, whatever stands in either: people write patterns, and others choose the names.
 */
export function globPattern(text: string, { parted }: { readonly parted: boolean }): Glob | undefined {
  const plain = alternatives(text);
  if (plain === undefined) return undefined;
  const patterns = plain.map((each) => tokens(each, parted));
  if (patterns.some((pattern) => pattern === undefined)) return undefined;
  return { test: (name) => patterns.some((pattern) => pattern !== undefined && matches(pattern, Array.from(name))) };
}

/** The patterns without braces that one with braces stands for; undefined where a brace is left open. */
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

/** Undefined for a range that ends before it begins. */
function letterClass(text: string): ((letter: string) => boolean) | undefined {
  const source = text.replaceAll(/[\\^\]]/g, String.raw`\$&`).replace(/^!/, '^');
  try {
    const pattern = new RegExp(`^[${source}]$`, 'u');
    return (letter) => pattern.test(letter);
  } catch {
    return undefined;
  }
}

/** All places of the pattern that what was read so far may have come to, letter by letter. */
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

/** With those behind what may stand for nothing. */
function onward(pattern: readonly Token[], places: Set<number>): Set<number> {
  for (const at of places) {
    const token = pattern[at];
    // A set that grows while it is walked is walked to its end.
    if (token !== undefined && 'many' in token) places.add(at + 1);
  }
  return places;
}
