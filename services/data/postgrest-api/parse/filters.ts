import { Cursor } from './cursor.ts';
import { readField, readQuoted, type Field } from './fields.ts';

/** Operators with a right side that is compared: name in the query -> operator of PostgreSQL. */
const compared = {
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

/** Text search: name in the query -> function that makes a query of a text. */
const searches = {
  fts: 'to_tsquery',
  plfts: 'plainto_tsquery',
  phfts: 'phraseto_tsquery',
  wfts: 'websearch_to_tsquery',
} as const;

const quantifiable = new Set(['eq', 'gt', 'gte', 'lt', 'lte', 'like', 'ilike', 'match', 'imatch']);
const tests = ['null', 'not_null', 'true', 'false', 'unknown'] as const;
export type Test = (typeof tests)[number];

/** What a filter asks of a field. */
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

const beginsWithOperator = new RegExp(
  `^(?:not\\.)?(?:${[...Object.keys(compared), ...Object.keys(searches), 'in', 'is'].join('|')})(?:\\([^)]*\\))?\\.`,
);

/** Whether a text may be a filter; else it is an argument of a function. */
export function isOperation(text: string): boolean {
  return beginsWithOperator.test(text);
}

/** What stands behind the `=` of a filter. */
export function parseFilter(field: Field, text: string): Filter {
  const cursor = new Cursor(text, 'filter');
  const { not, operation } = readOperation(cursor, 'whole');
  return { kind: 'filter', field, not, operation };
}

/** What stands behind `or=`, `and=`, `not.or=` and `not.and=`. */
export function parseLogic(join: 'and' | 'or', not: boolean, text: string): Logic {
  const cursor = new Cursor(text, 'logic tree');
  const logic = { kind: 'logic', join, not, children: readChildren(cursor, 0) } as const;
  cursor.skipSpaces();
  cursor.expectEnd('end of input');
  return logic;
}

const deepest = 100;

function readChildren(cursor: Cursor, depth: number): Condition[] {
  if (depth > deepest) cursor.fail('fewer groups within groups');
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

/** `part`: of a group, where a comma or a parenthesis ends the value. */
function readOperation(cursor: Cursor, extent: 'whole' | 'part'): Pick<Filter, 'not' | 'operation'> {
  const not = cursor.take('not.');
  const start = cursor.at;
  const name = cursor.match(/[a-z]+/y) ?? '';
  const fail = (): never => {
    cursor.at = start;
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
  if (!Object.hasOwn(compared, name)) fail();
  const operator = compared[name as keyof typeof compared];
  if (modifier !== undefined && (!quantifiable.has(name) || (modifier !== 'any' && modifier !== 'all'))) fail();
  let value = readValue(cursor, extent);
  if (name === 'like' || name === 'ilike') value = value.replaceAll('*', '%');
  const quantifier = modifier as 'any' | 'all' | undefined;
  return { not, operation: { kind: 'compare', operator, value, ...(quantifier === undefined ? {} : { quantifier }) } };
}

function readValue(cursor: Cursor, extent: 'whole' | 'part'): string {
  if (extent === 'whole') {
    const rest = cursor.text.slice(cursor.at);
    cursor.at = cursor.text.length;
    return rest;
  }
  if (cursor.peek('"')) return readQuoted(cursor);
  // An array, a range or JSON may hold commas of its own.
  if (cursor.peek('{')) return cursor.match(/\{[^}]*\}/y) ?? cursor.fail('"}"');
  return cursor.match(/[^,)]*/y) ?? '';
}

function readTest(cursor: Cursor, extent: 'whole' | 'part'): Test {
  const start = cursor.at;
  const text = readValue(cursor, extent).trim().toLowerCase();
  const test = tests.find((each) => each === text);
  if (test !== undefined) return test;
  cursor.at = start;
  return cursor.fail('isVal: (null, not_null, true, false, unknown)');
}

/** Clients quote a value that holds a comma or a parenthesis, and do not all escape the quotes in it. */
function readList(cursor: Cursor, extent: 'whole' | 'part'): string[] {
  if (!cursor.take('(')) cursor.fail('"("');
  const values: string[] = [];
  // Nothing but spaces is an empty list.
  if (cursor.match(/\s*\)/y) === undefined) {
    do {
      const value = (cursor.peek('"') ? readLenient(cursor) : undefined) ?? cursor.match(/[^,)]*/y) ?? '';
      values.push(value.trim() === '' ? '' : value);
    } while (cursor.take(','));
    if (!cursor.take(')')) cursor.fail('"," or ")"');
  }
  if (extent === 'whole') cursor.expectEnd('end of input');
  return values;
}

/**
 * A quote ends the value only where the list goes on or ends behind it. Undefined: the quote is a character of the
 * value.
 */
function readLenient(cursor: Cursor): string | undefined {
  const found = cursor.match(/"(?:[^"\\]|\\.|"(?![,)]))*"(?=[,)])/sy);
  return found?.slice(1, -1).replace(/\\(.)/gs, '$1');
}
