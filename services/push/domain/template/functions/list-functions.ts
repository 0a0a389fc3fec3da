import { ExecutionError } from '../errors.ts';
import type { TemplateRun } from '../run.ts';
import { isTrue, List, nilList, type Value } from '../values.ts';
import { toItems, toInteger } from './convert.ts';
import { isDeepEqual } from './equality.ts';
import { defineFunction, defineVariadic, type TemplateFunction } from './signature.ts';

const maxChunks = 10_000;

/** Returns a list, or nil when empty, as Go's append does. */
function toListOrNil(items: readonly Value[]): List {
  return items.length === 0 ? nilList : new List(items);
}

function splitIntoChunks(size: number, items: readonly Value[]): List {
  const count = Math.floor((items.length - 1) / size) + 1;
  if (size === 0 || count < 0 || (size < 0 && count > 0))
    throw new ExecutionError('runtime error: makeslice: len out of range');
  if (count > maxChunks) {
    throw new ExecutionError(`number of chunks ${String(count)} exceeds maximum limit of ${String(maxChunks)}`);
  }
  const lists = Array.from({ length: count }, (_, index) => new List(items.slice(index * size, (index + 1) * size)));
  return new List(lists, '[]interface {}');
}

/** Slices a list or, as an extension, a text. */
function slice(value: Value, indices: readonly Value[]): Value {
  const source = typeof value === 'string' ? value : toItems(value, '', 'list should be type of slice or array but ');
  if (source.length === 0) return null;
  const [start = 0, end = source.length] = indices.map((index) => Number(toInteger(index)));
  if (start < 0 || end > source.length || start > end)
    throw new ExecutionError('reflect.Value.Slice: slice index out of bounds');
  if (typeof source === 'string') return source.slice(start, end);
  return new List(source.slice(start, end), value instanceof List ? value.element : undefined);
}

function has(items: readonly Value[], value: Value, run: TemplateRun): boolean {
  return items.some((item) => isDeepEqual(item, value, run));
}

function removeDuplicates(items: readonly Value[], run: TemplateRun): List {
  const seen: Value[] = [];
  for (const item of items) if (!has(seen, item, run)) seen.push(item);
  return toListOrNil(seen);
}

function withoutItems(items: readonly Value[], transform: (items: readonly Value[]) => readonly Value[]): List {
  return items.length === 0 ? nilList : new List(transform(items));
}

/** Counts the creation of a list of this size against the limits. */
function reserveItems(count: number, run: TemplateRun): void {
  run.checkLength(count);
  run.step(Math.ceil(count / 16));
}

const append = defineFunction(['any', 'any'], ([value, item], run) => {
  const items = toItems(value, 'push on');
  reserveItems(items.length, run);
  return new List([...items, item]);
});
const prepend = defineFunction(['any', 'any'], ([value, item], run) => {
  const items = toItems(value, 'prepend on');
  reserveItems(items.length, run);
  return new List([item, ...items]);
});
const first = defineFunction(['any'], ([value]) => toItems(value, 'find first on')[0]);
const last = defineFunction(['any'], ([value]) => toItems(value, 'find last on').at(-1));
const rest = defineFunction(['any'], ([value]) =>
  withoutItems(toItems(value, 'find rest on'), (items) => items.slice(1)),
);
const initial = defineFunction(['any'], ([value]) =>
  withoutItems(toItems(value, 'find initial on'), (items) => items.slice(0, -1)),
);
const reverse = defineFunction(['any'], ([value]) => new List(toItems(value, 'find reverse on').toReversed()));
const uniq = defineFunction(['any'], ([value], run) => removeDuplicates(toItems(value, 'find uniq on'), run));
const compact = defineFunction(['any'], ([value]) => toListOrNil(toItems(value, 'compact on').filter(isTrue)));
const without = defineVariadic(
  ['any'],
  'any',
  ([value], excluded, run) => new List(toItems(value, 'find without on').filter((item) => !has(excluded, item, run))),
);
const contains = defineFunction(
  ['any', 'any'],
  ([item, value], run) => value !== null && has(toItems(value, 'find has on'), item, run),
);
const sliceFunction = defineVariadic(['any'], 'any', ([value], indices) => slice(value, indices));
const chunk = defineFunction(['int', 'any'], ([size, value]) => splitIntoChunks(size, toItems(value, 'chunk')));
const list = defineVariadic([], 'any', (_none, items) => new List(items));

/** Sprig's functions for lists. Variants with `must` behave the same, because all errors fail. */
export const listFunctions: Readonly<Record<string, TemplateFunction>> = {
  list,
  tuple: list,
  append,
  push: append,
  mustAppend: append,
  mustPush: append,
  prepend,
  mustPrepend: prepend,
  first,
  mustFirst: first,
  last,
  mustLast: last,
  rest,
  mustRest: rest,
  initial,
  mustInitial: initial,
  reverse,
  mustReverse: reverse,
  uniq,
  mustUniq: uniq,
  compact,
  mustCompact: compact,
  without,
  mustWithout: without,
  has: contains,
  mustHas: contains,
  slice: sliceFunction,
  mustSlice: sliceFunction,
  chunk,
  mustChunk: chunk,
  concat: defineVariadic([], 'any', (_none, lists, run) => {
    const all = lists.map((value) => toItems(value, 'concat', 'type '));
    reserveItems(
      all.reduce((sum, items) => sum + items.length, 0),
      run,
    );
    return toListOrNil(all.flat());
  }),
};
