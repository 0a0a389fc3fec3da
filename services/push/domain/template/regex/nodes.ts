import type { Predicate } from './characters.ts';

/** Node of a parsed expression. */
export type RegexNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'character'; readonly matches: Predicate }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  | { readonly kind: 'all'; readonly parts: readonly RegexNode[] }
  | { readonly kind: 'either'; readonly parts: readonly RegexNode[] }
  | { readonly kind: 'group'; readonly index: number; readonly part: RegexNode }
  | {
      readonly kind: 'repeat';
      readonly part: RegexNode;
      readonly min: number;
      readonly max: number;
      readonly greedy: boolean;
    };

export type Assertion = 'text start' | 'text end' | 'line start' | 'line end' | 'word boundary' | 'no word boundary';

export interface ParsedExpression {
  readonly part: RegexNode;
  /** Names of the groups by number; group 0 is the whole expression. */
  readonly groups: readonly string[];
}

/** Returns true when the product of nested repetition counts is at most `max`. */
export function isRepeatCountWithin(max: number, part: RegexNode): boolean {
  switch (part.kind) {
    case 'all':
    case 'either':
      return part.parts.every((node) => isRepeatCountWithin(max, node));
    case 'group':
      return isRepeatCountWithin(max, part.part);
    case 'repeat': {
      const count = Math.max(part.max === Infinity ? part.min : part.max, 1);
      return count <= max && isRepeatCountWithin(Math.floor(max / count), part.part);
    }
    default:
      return true;
  }
}
