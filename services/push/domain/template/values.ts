/** What a template works with: JSON. */
export type Value = null | boolean | number | string | readonly Value[] | { readonly [name: string]: Value };

/** A value is there and is not empty: no nil, false, 0, and nothing of no length. */
export function isTrue(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isMap(value: Value): value is { readonly [name: string]: Value } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The value of a name; nil when there is none. Names of JavaScript's own objects are names like any other. */
export function entryOf(map: { readonly [name: string]: Value }, name: string): Value {
  return Object.hasOwn(map, name) ? (map[name] ?? null) : null;
}

/** As it is printed; `nil` stands for what is not there. */
export function textOf(value: Value, nil = '<no value>'): string {
  if (value === null) return nil;
  if (isList(value)) return `[${value.map((each) => textOf(each, '<nil>')).join(' ')}]`;
  if (isMap(value)) {
    const entries = Object.keys(value).sort();
    return `map[${entries.map((name) => `${name}:${textOf(entryOf(value, name), '<nil>')}`).join(' ')}]`;
  }
  return String(value);
}

export function typeOf(value: Value): string {
  if (value === null) return 'nil';
  if (isList(value)) return '[]interface {}';
  if (isMap(value)) return 'map[string]interface {}';
  return { boolean: 'bool', number: 'float64', string: 'string' }[typeof value as 'boolean' | 'number' | 'string'];
}
