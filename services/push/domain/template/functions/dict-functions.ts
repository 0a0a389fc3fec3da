import { ExecutionError } from '../errors.ts';
import type { TemplateRun } from '../run.ts';
import { Dict, List, nilList, getType, type Value } from '../values.ts';
import { toText } from './convert.ts';
import { defineFunction, defineVariadic, type TemplateFunction } from './signature.ts';

const dictType = 'map[string]interface {}';

function createDict(args: readonly Value[], run: TemplateRun): Dict {
  const dict = new Dict([]);
  for (let index = 0; index < args.length; index += 2) {
    dict.entries.set(toText(args[index], run), index + 1 < args.length ? args[index + 1] : '');
  }
  return dict;
}

function setEntry(dict: Dict, name: string, value: Value): Dict {
  if (dict.isNil) throw new ExecutionError('assignment to entry in nil map');
  dict.entries.set(name, value);
  return dict;
}

/** Returns the value at a path or the default: `dig "user" "name" "unnamed" .`. */
function getNested(args: readonly Value[]): Value {
  if (args.length < 3) throw new ExecutionError('dig needs at least three arguments');
  const fallback = args.at(-2);
  let current = args.at(-1);
  for (const name of args.slice(0, -2)) {
    if (typeof name !== 'string') throw conversionError(name, 'string');
    if (!(current instanceof Dict) || current.element === 'string') throw conversionError(current, dictType);
    if (!current.entries.has(name)) return fallback;
    current = current.entries.get(name);
  }
  return current;
}

function conversionError(value: Value, type: string): ExecutionError {
  const actualType = (value ?? null) === null ? 'nil' : getType(value);
  return new ExecutionError(`interface conversion: interface {} is ${actualType}, not ${type}`);
}

function filterDict(dict: Dict, includesName: (name: string) => boolean): Dict {
  return new Dict([...dict.entries].filter(([name]) => includesName(name)));
}

function toListOrNil(items: readonly Value[], element?: 'string'): List {
  return items.length === 0
    ? element === undefined
      ? nilList
      : new List([], element, true)
    : new List(items, element);
}

/** Sprig's functions for maps. Names are sorted, whereas Go's order is random. */
export const dictFunctions: Readonly<Record<string, TemplateFunction>> = {
  dict: defineVariadic([], 'any', (_none, args, run) => createDict(args, run)),
  get: defineFunction(['map', 'string'], ([dict, name]) => (dict.entries.has(name) ? dict.entries.get(name) : '')),
  set: defineFunction(['map', 'string', 'any'], ([dict, name, value]) => setEntry(dict, name, value)),
  unset: defineFunction(['map', 'string'], ([dict, name]) => {
    dict.entries.delete(name);
    return dict;
  }),
  hasKey: defineFunction(['map', 'string'], ([dict, name]) => dict.entries.has(name)),
  pluck: defineVariadic(['string'], 'map', ([name], dicts) =>
    toListOrNil(dicts.filter((dict) => dict.entries.has(name)).map((dict) => dict.entries.get(name))),
  ),
  keys: defineVariadic([], 'map', (_none, dicts) =>
    toListOrNil(
      dicts.flatMap((dict) => dict.names()),
      'string',
    ),
  ),
  values: defineFunction(['map'], ([dict]) => toListOrNil(dict.names().map((name) => dict.entries.get(name)))),
  pick: defineVariadic(['map'], 'string', ([dict], names) => filterDict(dict, (name) => names.includes(name))),
  omit: defineVariadic(['map'], 'string', ([dict], names) => filterDict(dict, (name) => !names.includes(name))),
  dig: defineVariadic([], 'any', (_none, args) => getNested(args)),
};
