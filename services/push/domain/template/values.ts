import type { Moment } from './time/moment.ts';
import { toBytes } from './bytes.ts';
import { ExecutionError } from './errors.ts';

/**
 * Value in a template. A `number` is a float64, as in JSON; a `string` is bytes. `undefined` is a missing value, such
 * as an unknown key; `null` is nil.
 */
export type Value = undefined | null | boolean | number | string | Integer | List | Dict | Moment;

/** Integer types; the last three are printed as text. */
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
  /** Go distinguishes nil from an empty list, also in JSON. */
  readonly isNil: boolean;
  constructor(items: readonly Value[], element: ElementType = 'interface {}', isNil = false) {
    this.items = items;
    this.element = element;
    this.isNil = isNil;
  }
}

/** Shared and not copied, because templates can modify it (`set`). */
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

  /** Returns the names sorted by bytes. */
  names(): readonly string[] {
    return [...this.entries.keys()].sort();
  }
}

export const nilList = new List([], 'interface {}', true);

/** Converts parsed JSON to a template value. */
export function toValue(json: unknown): Value {
  if (typeof json === 'string') return toBytes(json);
  if (typeof json !== 'object' || json === null) return json as null | boolean | number;
  if (Array.isArray(json)) return new List(json.map(toValue));
  return new Dict(Object.entries(json).map(([name, value]) => [toBytes(name), toValue(value)] as const));
}

/** Returns true for values that are not empty: nil, false, 0 and empty collections are false. */
export function isTrue(value: Value): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return false;
  if (value instanceof Integer) return value.value !== 0n;
  if (value instanceof List) return value.items.length > 0;
  if (value instanceof Dict) return value.entries.size > 0;
  return true;
}

/** Returns the name of the Go type. */
export function getType(value: Value): string {
  if (value === undefined || value === null) return '<nil>';
  if (value instanceof Integer) return value.type;
  if (value instanceof List) return `[]${value.element}`;
  if (value instanceof Dict) return `map[string]${value.element}`;
  if (typeof value === 'object') return 'time.Time';
  return { boolean: 'bool', number: 'float64', string: 'string' }[typeof value as 'boolean' | 'number' | 'string'];
}

/** Returns the kind of the Go type. */
export function getKind(value: Value): string {
  if (value === undefined || value === null) return 'invalid';
  if (value instanceof List) return 'slice';
  if (value instanceof Dict) return 'map';
  if (value instanceof Integer) {
    if (value.type === 'time.Duration') return 'int64';
    return value.type.startsWith('time.') ? 'int' : value.type;
  }
  return typeof value === 'object' ? 'struct' : getType(value);
}

/** Creates the error for `reflect.TypeOf(nil).Kind()`, on which ntfy panics. */
export function createNilError(): ExecutionError {
  return new ExecutionError('runtime error: invalid memory address or nil pointer dereference');
}
