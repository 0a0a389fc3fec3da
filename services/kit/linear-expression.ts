import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';

/** Maximum number of instructions, including expanded repetitions. */
const maxInstructions = 20_000;

/** Thrown for an invalid expression, with the reason and the part of the expression as in Go's regexp. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  readonly reason: string;
  readonly fragment: string;

  constructor(reason: string, fragment: string, options?: ErrorOptions) {
    super(`${reason}: ${fragment}`, options);
    this.reason = reason;
    this.fragment = fragment;
  }
}

/** Compiled expression. */
export type LinearExpression = RE2JS;

/**
 * Compiles an expression in RE2 syntax, as used by programs in Go. A search takes time proportional to the length of
 * the text times the size of the expression, for all inputs; there are no lookarounds and no backreferences.
 *
 * @throws ExpressionError
 */
export function compileLinearExpression(source: string): LinearExpression {
  if (estimateSize(source) > maxInstructions) throw new ExpressionError('expression too large', source);
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException)
      throw new ExpressionError(error.getDescription(), error.getPattern() ?? '', { cause: error });
    if (error instanceof RE2JSException) throw new ExpressionError('expression too large', source, { cause: error });
    throw error;
  }
}

/**
 * Parts of an expression in RE2 syntax: literal text, a class, an escape sequence, a repetition with its counts, or
 * any other character.
 */
const partPattern =
  /\\Q[^]*?(?:\\E|$)|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\\(?:[pPx]\{[^}]*\}|[^])|\{(\d{1,4})(?:,(\d{0,4}))?\}|[^]/gu;

/** Multiplies the size of the last part by a repetition. */
function repeatLast(sizes: number[], count: number): void {
  const last = sizes.pop() ?? 1;
  sizes.push(last * Math.max(count, 1));
}

/**
 * Estimates the number of instructions of an expression in RE2 syntax without parsing it. Repetitions are expanded, so
 * a short expression can have a large program.
 */
function estimateSize(source: string): number {
  const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 1);
  const outer: number[][] = [];
  let sizes: number[] = [];
  for (const [part, min, max] of source.matchAll(partPattern)) {
    if (min !== undefined) repeatLast(sizes, Number(max === undefined || max === '' ? min : max));
    else if (part === '(') {
      outer.push(sizes);
      sizes = [];
    } else if (part === ')') {
      const group = sum(sizes);
      sizes = outer.pop() ?? [];
      sizes.push(group);
    } else sizes.push(part.length);
  }
  return [...outer, sizes].reduce((total, each) => total + sum(each), 0);
}
