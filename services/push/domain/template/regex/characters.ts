/** Ranges of code points, inclusive. */
export type Ranges = readonly (readonly [number, number])[];

const digits: Ranges = [[0x30, 0x39]];
const upper: Ranges = [[0x41, 0x5a]];
const lower: Ranges = [[0x61, 0x7a]];
const letters: Ranges = [...upper, ...lower];
const word: Ranges = [...digits, ...upper, [0x5f, 0x5f], ...lower];

/** `\d`, `\s` and `\w`, ASCII only. */
export const perlClasses: Readonly<Record<string, Ranges>> = {
  d: digits,
  s: [
    [9, 10],
    [12, 13],
    [32, 32],
  ],
  w: word,
};

/** POSIX classes such as `[:alpha:]`. */
export const posixClasses: Readonly<Record<string, Ranges>> = {
  alnum: [...digits, ...letters],
  alpha: letters,
  ascii: [[0, 0x7f]],
  blank: [
    [9, 9],
    [32, 32],
  ],
  cntrl: [
    [0, 0x1f],
    [0x7f, 0x7f],
  ],
  digit: digits,
  graph: [[0x21, 0x7e]],
  lower,
  print: [[0x20, 0x7e]],
  punct: [
    [0x21, 0x2f],
    [0x3a, 0x40],
    [0x5b, 0x60],
    [0x7b, 0x7e],
  ],
  space: [
    [9, 13],
    [32, 32],
  ],
  upper,
  word,
  xdigit: [...digits, [0x41, 0x46], [0x61, 0x66]],
};

/** Part of a character class in JavaScript syntax, possibly negated. */
export interface ClassItem {
  readonly inside: string;
  readonly negated: boolean;
}

export function createItem(ranges: Ranges, negated = false): ClassItem {
  return { inside: ranges.map(([from, to]) => `${escapeCodePoint(from)}-${escapeCodePoint(to)}`).join(''), negated };
}

/** Returns the Unicode class of `\p{…}`; undefined for unknown names. */
export function createUnicodeItem(name: string, negated: boolean): ClassItem | undefined {
  const inside = /^[A-Z][a-z]?$|^Any$/.test(name) ? `\\p{${name}}` : `\\p{Script=${name}}`;
  try {
    new RegExp(inside, 'u');
    return { inside, negated };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns true for code points that match a part of an expression. */
export type Predicate = (rune: number) => boolean;

function escapeCodePoint(rune: number): string {
  return `\\u{${rune.toString(16)}}`;
}

/**
 * Creates a predicate for a class. JavaScript's engine only tests single characters, so no backtracking occurs. Case is
 * folded before an item is negated.
 */
export function createPredicate(items: readonly ClassItem[], { negated = false, foldsCase = false }): Predicate {
  const patterns = items.map((item) => ({
    ...item,
    pattern: new RegExp(`^[${item.inside}]$`, foldsCase ? 'iu' : 'u'),
  }));
  const cache = new Map<number, boolean>();
  return (rune) => {
    let isMatch = cache.get(rune);
    if (isMatch === undefined) {
      const letter = String.fromCodePoint(rune);
      isMatch = patterns.some((item) => item.pattern.test(letter) !== item.negated) !== negated;
      if (cache.size < 1000) cache.set(rune, isMatch);
    }
    return isMatch;
  };
}

export function matchesExactly(rune: number, foldsCase: boolean): Predicate {
  if (!foldsCase) return (other) => other === rune;
  return createPredicate([createItem([[rune, rune]])], { foldsCase });
}
