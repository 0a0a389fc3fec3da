import { list, map, of, RunFault, text, whole, type TemplateFunction } from './arguments.ts';
import { formatDate } from './dates.ts';
import { entryOf, isList, isMap, textOf, typeOf, type Value } from './values.ts';

const longestRange = 10_000;

function index(value: Value, keys: readonly Value[]): Value {
  let at = value;
  for (const key of keys) {
    if (at === null) throw new RunFault('index of untyped nil');
    if (isMap(at)) {
      if (typeof key !== 'string') throw new RunFault(`value has type ${typeOf(key)}; should be string`);
      at = entryOf(at, key);
    } else if (isList(at) || typeof at === 'string') {
      if (typeof key !== 'number') throw new RunFault(`cannot index slice/array with type ${typeOf(key)}`);
      if (key < 0 || key >= at.length) throw new RunFault(`index out of range: ${String(key)}`);
      at = isList(at) ? (at[Math.trunc(key)] ?? null) : at.charCodeAt(Math.trunc(key));
    } else {
      throw new RunFault(`can't index item of type ${typeOf(at)}`);
    }
  }
  return at;
}

function slice(value: Value, from: Value | undefined, to: Value | undefined): Value {
  if (!isList(value) && typeof value !== 'string') throw new RunFault(`can't slice item of type ${typeOf(value)}`);
  const [start, end] = [whole(from ?? 0), whole(to ?? value.length)];
  if (start < 0 || end > value.length || start > end) throw new RunFault(`index out of range: ${String(end)}`);
  return value.slice(start, end);
}

function length(value: Value): number {
  if (typeof value === 'string') return new TextEncoder().encode(value).length;
  if (isList(value)) return value.length;
  if (isMap(value)) return Object.keys(value).length;
  throw new RunFault(value === null ? 'len of nil pointer' : `len of type ${typeOf(value)}`);
}

function numbersTo(count: number): Value {
  if (Math.abs(count) > longestRange) throw new RunFault('the range is too long');
  return Array.from({ length: Math.abs(count) }, (_, at) => (count < 0 ? -at : at));
}

function pairs(given: readonly Value[]): { readonly [name: string]: Value } {
  const entries: [string, Value][] = [];
  for (let at = 0; at < given.length; at += 2) entries.push([text(given[at]), given[at + 1] ?? '']);
  return Object.fromEntries(entries);
}

function unique(values: readonly Value[]): Value {
  const seen = new Set<string>();
  return values.filter((value) => {
    const key = JSON.stringify(value);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function readJson(value: string): Value {
  try {
    return JSON.parse(value) as Value;
  } catch {
    // As the peer has it: what is no JSON is nothing.
    return null;
  }
}

/** Lists, maps, JSON and dates. */
export const collectionFunctions: Readonly<Record<string, TemplateFunction>> = {
  index: of(1, ([value = null, ...keys]) => index(value, keys), Infinity),
  slice: of(1, ([value = null, from, to]) => slice(value, from, to), 3),
  len: of(1, ([value = null]) => length(value)),
  first: of(1, ([value]) => list(value)[0] ?? null),
  last: of(1, ([value]) => list(value).at(-1) ?? null),
  rest: of(1, ([value]) => list(value).slice(1)),
  initial: of(1, ([value]) => list(value).slice(0, -1)),
  reverse: of(1, ([value]) => list(value).toReversed()),
  uniq: of(1, ([value]) => unique(list(value))),
  compact: of(1, ([value]) => list(value).filter((each) => textOf(each, '') !== '')),
  sortAlpha: of(1, ([value]) =>
    list(value)
      .map((each) => text(each))
      .sort(),
  ),
  has: of(2, ([value = null, values]) => list(values).some((each) => JSON.stringify(each) === JSON.stringify(value))),
  append: of(2, ([values, value = null]) => [...list(values), value]),
  concat: of(0, (given) => given.flatMap((each) => list(each)), Infinity),
  list: of(0, (given) => [...given], Infinity),
  until: of(1, ([count]) => numbersTo(whole(count))),
  dict: of(0, (given) => pairs(given), Infinity),
  get: of(2, ([value, name]) => {
    const found = entryOf(map(value), text(name));
    return found === null ? '' : found;
  }),
  hasKey: of(2, ([value, name]) => Object.hasOwn(map(value), text(name))),
  keys: of(1, ([value]) => Object.keys(map(value)).sort()),
  values: of(1, ([value]) => {
    const whole_ = map(value);
    return Object.keys(whole_)
      .sort()
      .map((name) => entryOf(whole_, name));
  }),
  toJson: of(1, ([value = null]) => JSON.stringify(value)),
  toPrettyJson: of(1, ([value = null]) => JSON.stringify(value, null, 2)),
  fromJson: of(1, ([value]) => readJson(text(value))),
  date: of(2, ([layout, value = null]) => formatDate(text(layout), value)),
};
