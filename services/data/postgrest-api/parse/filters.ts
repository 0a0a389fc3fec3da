import { Cursor } from './cursor.ts';
import { readField, readQuoted, type Field } from './fields.ts';

/** Comparison operators: name in the query string to operator of PostgreSQL. */
const comparisons = {
  eq: '=',
  neq: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  like: 'LIKE',
  ilike: 'ILIKE',
  match: '~',
  imatch: '~*',
  cs: '@>',
  cd: '<@',
  ov: '&&',
  sl: '<<',
  sr: '>>',
  nxr: '&<',
  nxl: '&>',
  adj: '-|-',
  isdistinct: 'IS DISTINCT FROM',
} as const;

/** Text search operators: name in the query string to the function that parses the search text. */
const searches = {
  fts: 'to_tsquery',
  plfts: 'plainto_tsquery',
  phfts: 'phraseto_tsquery',
  wfts: 'websearch_to_tsquery',
} as const;

const quantifiable = new Set(['eq', 'gt', 'gte', 'lt', 'lte', 'like', 'ilike', 'match', 'imatch']);
const isTests = ['null', 'not_null', 'true', 'false', 'unknown'] as const;
export type Test = (typeof isTests)[number];

/** Operation of a filter. */
export type Operation =
  | { readonly kind: 'compare'; readonly operator: string; readonly value: string; readonly quantifier?: 'any' | 'all' }
  | { readonly kind: 'in'; readonly values: readonly string[] }
  | { readonly kind: 'is'; readonly test: Test }
  | { readonly kind: 'search'; readonly toQuery: string; readonly config?: string; readonly value: string };

export interface Filter {
  readonly kind: 'filter';
  readonly field: Field;
  readonly not: boolean;
  readonly operation: Operation;
}

export interface Logic {
  readonly kind: 'logic';
  readonly join: 'and' | 'or';
  readonly not: boolean;
  readonly children: readonly Condition[];
}

export type Condition = Filter | Logic;

const operationPattern = new RegExp(
  `^(?:not\\.)?(?:${[...Object.keys(comparisons), ...Object.keys(searches), 'in', 'is'].join('|')})(?:\\([^)]*\\))?\\.`,
);

/** Returns true when a text has the form of a filter; otherwise it is a function argument. */
export function isOperation(text: string): boolean {
  return operationPattern.test(text);
}

/** Parses the value of a filter parameter. */
export function parseFilter(field: Field, text: string): Filter {
  const cursor = new Cursor(text, 'filter');
  const { not, operation } = readOperation(cursor, 'whole');
  return { kind: 'filter', field, not, operation };
}

/** Parses the value of `or=`, `and=`, `not.or=` and `not.and=`. */
export function parseLogic(join: 'and' | 'or', not: boolean, text: string): Logic {
  const cursor = new Cursor(text, 'logic tree');
  const logic = { kind: 'logic', join, not, children: readChildren(cursor, 0) } as const;
  cursor.skipSpaces();
  cursor.expectEnd('end of input');
  return logic;
}

const maxDepth = 100;

function readChildren(cursor: Cursor, depth: number): Condition[] {
  if (depth > maxDepth) cursor.fail('fewer groups within groups');
  cursor.skipSpaces();
  if (!cursor.take('(')) cursor.fail('"("');
  const children: Condition[] = [];
  do {
    cursor.skipSpaces();
    children.push(readCondition(cursor, depth));
    cursor.skipSpaces();
  } while (cursor.take(','));
  if (!cursor.take(')')) cursor.fail('"," or ")"');
  return children;
}

function readCondition(cursor: Cursor, depth: number): Condition {
  const join = cursor.match(/(?:not\.)?(?:and|or)(?=\s*\()/y);
  if (join !== undefined) {
    const not = join.startsWith('not.');
    return { kind: 'logic', not, join: join.endsWith('and') ? 'and' : 'or', children: readChildren(cursor, depth + 1) };
  }
  const field = readField(cursor);
  if (!cursor.take('.')) cursor.fail('"."');
  return { kind: 'filter', field, ...readOperation(cursor, 'part') };
}

/** @param extent `part` for filters in a group, where a comma or a parenthesis ends the value */
function readOperation(cursor: Cursor, extent: 'whole' | 'part'): Pick<Filter, 'not' | 'operation'> {
  const not = cursor.take('not.');
  const start = cursor.index;
  const name = cursor.match(/[a-z]+/y) ?? '';
  const fail = (): never => {
    cursor.index = start;
    return cursor.fail(not ? 'operator (eq, gt, ...)' : '"not" or operator (eq, gt, ...)');
  };
  const modifier = cursor.match(/\([^()]*\)/y)?.slice(1, -1);
  if (!cursor.take('.')) fail();
  if (name === 'in' && modifier === undefined)
    return { not, operation: { kind: 'in', values: readList(cursor, extent) } };
  if (name === 'is' && modifier === undefined)
    return { not, operation: { kind: 'is', test: readTest(cursor, extent) } };
  if (Object.hasOwn(searches, name)) {
    const toQuery = searches[name as keyof typeof searches];
    const value = readValue(cursor, extent);
    return {
      not,
      operation: { kind: 'search', toQuery, value, ...(modifier === undefined ? {} : { config: modifier }) },
    };
  }
  if (!Object.hasOwn(comparisons, name)) fail();
  const operator = comparisons[name as keyof typeof comparisons];
  if (modifier !== undefined && (!quantifiable.has(name) || (modifier !== 'any' && modifier !== 'all'))) fail();
  let value = readValue(cursor, extent);
  if (name === 'like' || name === 'ilike') value = value.replaceAll('*', '%');
  const quantifier = modifier as 'any' | 'all' | undefined;
  return { not, operation: { kind: 'compare', operator, value, ...(quantifier === undefined ? {} : { quantifier }) } };
}

function readValue(cursor: Cursor, extent: 'whole' | 'part'): string {
  if (extent === 'whole') {
    const rest = cursor.text.slice(cursor.index);
    cursor.index = cursor.text.length;
    return rest;
  }
  if (cursor.peek('"')) return readQuoted(cursor);
  // Arrays, ranges and JSON may contain commas.
  if (cursor.peek('{')) return cursor.match(/\{[^}]*\}/y) ?? cursor.fail('"}"');
  return cursor.match(/[^,)]*/y) ?? '';
}

function readTest(cursor: Cursor, extent: 'whole' | 'part'): Test {
  const start = cursor.index;
  const text = readValue(cursor, extent).trim().toLowerCase();
  const test = isTests.find((each) => each === text);
  if (test !== undefined) return test;
  cursor.index = start;
  return cursor.fail('isVal: (null, not_null, true, false, unknown)');
}

/** Reads a list. Clients quote values that contain a comma or a parenthesis, and some do not escape inner quotes. */
function readList(cursor: Cursor, extent: 'whole' | 'part'): string[] {
  if (!cursor.take('(')) cursor.fail('"("');
  const values: string[] = [];
  // A list of only spaces is empty.
  if (cursor.match(/\s*\)/y) === undefined) {
    do {
      const value = (cursor.peek('"') ? readLenientQuoted(cursor) : undefined) ?? cursor.match(/[^,)]*/y) ?? '';
      values.push(value.trim() === '' ? '' : value);
    } while (cursor.take(','));
    if (!cursor.take(')')) cursor.fail('"," or ")"');
  }
  if (extent === 'whole') cursor.expectEnd('end of input');
  return values;
}

/**
 * Reads a quoted list value. The closing quote must be followed by a comma or parenthesis. Returns undefined when the
 * quote is part of the value.
 */
function readLenientQuoted(cursor: Cursor): string | undefined {
  const match = cursor.match(/"(?:[^"\\]|\\.|"(?![,)]))*"(?=[,)])/sy);
  return match?.slice(1, -1).replace(/\\(.)/gs, '$1');
}
