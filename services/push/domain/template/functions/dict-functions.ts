import { RunFault } from '../errors.ts';
import type { Run } from '../run.ts';
import { Dict, List, nilList, typeOf, type Value } from '../values.ts';
import { toText } from './convert.ts';
import { takes, takesMore, type TemplateFunction } from './signature.ts';

const dictType = 'map[string]interface {}';

function pairs(given: readonly Value[], run: Run): Dict {
  const made = new Dict([]);
  for (let at = 0; at < given.length; at += 2) {
    made.entries.set(toText(given[at], run), at + 1 < given.length ? given[at + 1] : '');
  }
  return made;
}

function set(dict: Dict, name: string, value: Value): Dict {
  if (dict.isNil) throw new RunFault('assignment to entry in nil map');
  dict.entries.set(name, value);
  return dict;
}

/** A value at the end of a path, or what stands in for it: `dig "user" "name" "nobody" .`. */
function dig(given: readonly Value[]): Value {
  if (given.length < 3) throw new RunFault('dig needs at least three arguments');
  const otherwise = given.at(-2);
  let at = given.at(-1);
  for (const name of given.slice(0, -2)) {
    if (typeof name !== 'string') throw conversion(name, 'string');
    if (!(at instanceof Dict) || at.element === 'string') throw conversion(at, dictType);
    if (!at.entries.has(name)) return otherwise;
    at = at.entries.get(name);
  }
  return at;
}

function conversion(value: Value, type: string): RunFault {
  const is = (value ?? null) === null ? 'nil' : typeOf(value);
  return new RunFault(`interface conversion: interface {} is ${is}, not ${type}`);
}

function picked(dict: Dict, takesName: (name: string) => boolean): Dict {
  return new Dict([...dict.entries].filter(([name]) => takesName(name)));
}

function orNil(items: readonly Value[], element?: 'string'): List {
  return items.length === 0
    ? element === undefined
      ? nilList
      : new List([], element, true)
    : new List(items, element);
}

/** Sprig's functions for maps. Names come in their order, where Go leaves it to chance. */
export const dictFunctions: Readonly<Record<string, TemplateFunction>> = {
  dict: takesMore([], 'any', (_none, given, run) => pairs(given, run)),
  get: takes(['map', 'string'], ([dict, name]) => (dict.entries.has(name) ? dict.entries.get(name) : '')),
  set: takes(['map', 'string', 'any'], ([dict, name, value]) => set(dict, name, value)),
  unset: takes(['map', 'string'], ([dict, name]) => {
    dict.entries.delete(name);
    return dict;
  }),
  hasKey: takes(['map', 'string'], ([dict, name]) => dict.entries.has(name)),
  pluck: takesMore(['string'], 'map', ([name], dicts) =>
    orNil(dicts.filter((dict) => dict.entries.has(name)).map((dict) => dict.entries.get(name))),
  ),
  keys: takesMore([], 'map', (_none, dicts) =>
    orNil(
      dicts.flatMap((dict) => dict.names()),
      'string',
    ),
  ),
  values: takes(['map'], ([dict]) => orNil(dict.names().map((name) => dict.entries.get(name)))),
  pick: takesMore(['map'], 'string', ([dict], names) => picked(dict, (name) => names.includes(name))),
  omit: takesMore(['map'], 'string', ([dict], names) => picked(dict, (name) => !names.includes(name))),
  dig: takesMore([], 'any', (_none, given) => dig(given)),
};
