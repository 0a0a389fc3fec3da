import type { Moment } from './time/moment.ts';
import { toBytes } from './bytes.ts';
import { RunFault } from './errors.ts';

/**
 * What a template works with. A `number` is a float64, as all numbers of JSON are; a `string` is bytes. `undefined` is no
 * value at all, such as of a missing key; `null` is one that is nil.
 */
export type Value = undefined | null | boolean | number | string | Integer | List | Dict | Moment;

/** Types that are whole numbers; the last three print as words. */
export type IntegerType = 'int' | 'int64' | 'uint8' | 'time.Duration' | 'time.Month' | 'time.Weekday';
export type ElementType = 'interface {}' | 'string' | 'int' | '[]interface {}';

export class Integer {
  readonly value: bigint;
  readonly type: IntegerType;
  constructor(value: bigint | number, type: IntegerType = 'int') {
    this.value = BigInt.asIntN(64, BigInt(value));
    this.type = type;
  }
}

export class List {
  readonly items: readonly Value[];
  readonly element: ElementType;
  /** Go tells a list that was never made from an empty one, and so does its JSON. */
  readonly isNil: boolean;
  constructor(items: readonly Value[], element: ElementType = 'interface {}', isNil = false) {
    this.items = items;
    this.element = element;
    this.isNil = isNil;
  }
}

/** Templates may change one (`set`), so it is shared, not copied. */
export class Dict {
  readonly entries: Map<string, Value>;
  readonly element: 'interface {}' | 'string';
  readonly isNil: boolean;
  constructor(
    entries: Iterable<readonly [string, Value]>,
    element: 'interface {}' | 'string' = 'interface {}',
    isNil = false,
  ) {
    this.entries = new Map(entries);
    this.element = element;
    this.isNil = isNil;
  }

  /** Names in the order of their bytes. */
  names(): readonly string[] {
    return [...this.entries.keys()].sort();
  }
}

export const nilList = new List([], 'interface {}', true);

/** What JSON.parse made of a body, as a template sees it. */
export function valueOf(json: unknown): Value {
  if (typeof json === 'string') return toBytes(json);
  if (typeof json !== 'object' || json === null) return json as null | boolean | number;
  if (Array.isArray(json)) return new List(json.map(valueOf));
  return new Dict(Object.entries(json).map(([name, value]) => [toBytes(name), valueOf(value)] as const));
}

/** A value is there and is not empty: no nil, false, 0, and nothing of no length. */
export function isTrue(value: Value): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return false;
  if (value instanceof Integer) return value.value !== 0n;
  if (value instanceof List) return value.items.length > 0;
  if (value instanceof Dict) return value.entries.size > 0;
  return true;
}

/** The type as Go names it. */
export function typeOf(value: Value): string {
  if (value === undefined || value === null) return '<nil>';
  if (value instanceof Integer) return value.type;
  if (value instanceof List) return `[]${value.element}`;
  if (value instanceof Dict) return `map[string]${value.element}`;
  if (typeof value === 'object') return 'time.Time';
  return { boolean: 'bool', number: 'float64', string: 'string' }[typeof value as 'boolean' | 'number' | 'string'];
}

/** What a type is made of, as Go names it. */
export function kindOf(value: Value): string {
  if (value === undefined || value === null) return 'invalid';
  if (value instanceof List) return 'slice';
  if (value instanceof Dict) return 'map';
  if (value instanceof Integer) {
    if (value.type === 'time.Duration') return 'int64';
    return value.type.startsWith('time.') ? 'int' : value.type;
  }
  return typeof value === 'object' ? 'struct' : typeOf(value);
}

/** What takes the place of `reflect.TypeOf(nil).Kind()`, on which the peer stumbles. */
export function nilDereference(): RunFault {
  return new RunFault('runtime error: invalid memory address or nil pointer dereference');
}
