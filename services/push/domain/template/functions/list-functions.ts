import { RunFault } from '../errors.ts';
import type { Run } from '../run.ts';
import { isTrue, List, nilList, type Value } from '../values.ts';
import { listOf, toInteger } from './convert.ts';
import { isDeepEqual } from './equality.ts';
import { takes, takesMore, type TemplateFunction } from './signature.ts';

const mostChunks = 10_000;

/** Nil where nothing is left of something, as Go's append leaves it. */
function kept(items: readonly Value[]): List {
  return items.length === 0 ? nilList : new List(items);
}

function chunks(size: number, items: readonly Value[]): List {
  const count = Math.floor((items.length - 1) / size) + 1;
  if (size === 0 || count < 0 || (size < 0 && count > 0))
    throw new RunFault('runtime error: makeslice: len out of range');
  if (count > mostChunks) {
    throw new RunFault(`number of chunks ${String(count)} exceeds maximum limit of ${String(mostChunks)}`);
  }
  const parts = Array.from({ length: count }, (_, index) => new List(items.slice(index * size, (index + 1) * size)));
  return new List(parts, '[]interface {}');
}

/** Of a text, too, which the peer refuses. */
function slice(value: Value, indices: readonly Value[]): Value {
  const whole = typeof value === 'string' ? value : listOf(value, '', 'list should be type of slice or array but ');
  if (whole.length === 0) return null;
  const [from = 0, to = whole.length] = indices.map((index) => Number(toInteger(index)));
  if (from < 0 || to > whole.length || from > to) throw new RunFault('reflect.Value.Slice: slice index out of bounds');
  if (typeof whole === 'string') return whole.slice(from, to);
  return new List(whole.slice(from, to), value instanceof List ? value.element : undefined);
}

function has(items: readonly Value[], value: Value, run: Run): boolean {
  return items.some((item) => isDeepEqual(item, value, run));
}

function unique(items: readonly Value[], run: Run): List {
  const seen: Value[] = [];
  for (const item of items) if (!has(seen, item, run)) seen.push(item);
  return kept(seen);
}

function isEmptied(items: readonly Value[], rest: (items: readonly Value[]) => readonly Value[]): List {
  return items.length === 0 ? nilList : new List(rest(items));
}

/** A list of so many items is about to be made. */
function copies(count: number, run: Run): void {
  run.fits(count);
  run.step(Math.ceil(count / 16));
}

const append = takes(['any', 'any'], ([value, item], run) => {
  const items = listOf(value, 'push on');
  copies(items.length, run);
  return new List([...items, item]);
});
const prepend = takes(['any', 'any'], ([value, item], run) => {
  const items = listOf(value, 'prepend on');
  copies(items.length, run);
  return new List([item, ...items]);
});
const first = takes(['any'], ([value]) => listOf(value, 'find first on')[0]);
const last = takes(['any'], ([value]) => listOf(value, 'find last on').at(-1));
const rest = takes(['any'], ([value]) => isEmptied(listOf(value, 'find rest on'), (items) => items.slice(1)));
const initial = takes(['any'], ([value]) => isEmptied(listOf(value, 'find initial on'), (items) => items.slice(0, -1)));
const reverse = takes(['any'], ([value]) => new List(listOf(value, 'find reverse on').toReversed()));
const uniq = takes(['any'], ([value], run) => unique(listOf(value, 'find uniq on'), run));
const compact = takes(['any'], ([value]) => kept(listOf(value, 'compact on').filter(isTrue)));
const without = takesMore(
  ['any'],
  'any',
  ([value], unwanted, run) => new List(listOf(value, 'find without on').filter((item) => !has(unwanted, item, run))),
);
const isIn = takes(
  ['any', 'any'],
  ([item, value], run) => value !== null && has(listOf(value, 'find has on'), item, run),
);
const sliceOf = takesMore(['any'], 'any', ([value], indices) => slice(value, indices));
const chunk = takes(['int', 'any'], ([size, value]) => chunks(size, listOf(value, 'chunk')));
const list = takesMore([], 'any', (_none, items) => new List(items));

/** Sprig's functions for lists. Those with `must` say the same here: what fails, fails. */
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
  has: isIn,
  mustHas: isIn,
  slice: sliceOf,
  mustSlice: sliceOf,
  chunk,
  mustChunk: chunk,
  concat: takesMore([], 'any', (_none, lists, run) => {
    const all = lists.map((each) => listOf(each, 'concat', 'type '));
    copies(
      all.reduce((sum, items) => sum + items.length, 0),
      run,
    );
    return kept(all.flat());
  }),
};
