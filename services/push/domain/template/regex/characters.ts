/** Ranges of code points, each with its first and last. */
export type Ranges = readonly (readonly [number, number])[];

const digits: Ranges = [[0x30, 0x39]];
const upper: Ranges = [[0x41, 0x5a]];
const lower: Ranges = [[0x61, 0x7a]];
const letters: Ranges = [...upper, ...lower];
const word: Ranges = [...digits, ...upper, [0x5f, 0x5f], ...lower];

/** `\d`, `\s` and `\w`: of ASCII alone. */
export const perlClasses: Readonly<Record<string, Ranges>> = {
  d: digits,
  s: [
    [9, 10],
    [12, 13],
    [32, 32],
  ],
  w: word,
};

/** `[:alpha:]` and its like. */
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

/** A part of a class: what JavaScript would write inside of brackets, or all but that. */
export interface Item {
  readonly inside: string;
  readonly negated: boolean;
}

export function itemOf(ranges: Ranges, negated = false): Item {
  return { inside: ranges.map(([from, to]) => `${point(from)}-${point(to)}`).join(''), negated };
}

/** The Unicode class of the name in `\p{…}`; undefined when there is none. */
export function unicodeItem(name: string, negated: boolean): Item | undefined {
  const inside = /^[A-Z][a-z]?$|^Any$/.test(name) ? `\\p{${name}}` : `\\p{Script=${name}}`;
  try {
    new RegExp(inside, 'u');
    return { inside, negated };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Tells which code points a part of an expression takes. */
export type Predicate = (rune: number) => boolean;

function point(rune: number): string {
  return `\\u{${rune.toString(16)}}`;
}

/**
 * A predicate for a class. One character at a time is all that JavaScript's own engine gets to see, so that it has nothing
 * to go back to. Cases are folded before an item is negated.
 */
export function predicateOf(items: readonly Item[], { negated = false, folds = false }): Predicate {
  const shapes = items.map((item) => ({ ...item, shape: new RegExp(`^[${item.inside}]$`, folds ? 'iu' : 'u') }));
  const known = new Map<number, boolean>();
  return (rune) => {
    let takes = known.get(rune);
    if (takes === undefined) {
      const letter = String.fromCodePoint(rune);
      takes = shapes.some((item) => item.shape.test(letter) !== item.negated) !== negated;
      if (known.size < 1000) known.set(rune, takes);
    }
    return takes;
  };
}

export function exactly(rune: number, folds: boolean): Predicate {
  if (!folds) return (other) => other === rune;
  return predicateOf([itemOf([[rune, rune]])], { folds });
}
