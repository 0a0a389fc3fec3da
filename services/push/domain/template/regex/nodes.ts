import type { Predicate } from './characters.ts';

/** A part of an expression. */
export type Part =
  | { readonly kind: 'empty' }
  | { readonly kind: 'character'; readonly takes: Predicate }
  | { readonly kind: 'place'; readonly where: Place }
  | { readonly kind: 'all'; readonly parts: readonly Part[] }
  | { readonly kind: 'either'; readonly parts: readonly Part[] }
  | { readonly kind: 'group'; readonly index: number; readonly part: Part }
  | {
      readonly kind: 'repeat';
      readonly part: Part;
      readonly least: number;
      readonly most: number;
      readonly greedy: boolean;
    };

export type Place = 'text begin' | 'text end' | 'line begin' | 'line end' | 'word edge' | 'no word edge';

export interface Expression {
  readonly part: Part;
  /** Names of the groups by their number; the whole is group 0. */
  readonly groups: readonly string[];
}

/** Counts of repetitions inside of each other multiply. */
export function repeatsAtMost(most: number, part: Part): boolean {
  switch (part.kind) {
    case 'all':
    case 'either':
      return part.parts.every((each) => repeatsAtMost(most, each));
    case 'group':
      return repeatsAtMost(most, part.part);
    case 'repeat': {
      const times = Math.max(part.most === Infinity ? part.least : part.most, 1);
      return times <= most && repeatsAtMost(Math.floor(most / times), part.part);
    }
    default:
      return true;
  }
}
