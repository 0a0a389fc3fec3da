/** Problem of a script with a message for users. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

/** Segment of a path into a configuration. */
export type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'place'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'where'; readonly key: readonly string[]; readonly operator: string; readonly value: string };

/** Fields that scripts cannot change: identity and inheritance of the configuration, and the scripts themselves. */
const refused = new Set(['__proto__', 'constructor', 'prototype', 'uuid', 'parentConfig', 'variants', 'accessKey']);
const step =
  /\.?([A-Za-z_][\w-]*)|\[\s*(?:(\*)|(-?\d+)|([\w.]*)\s*(!\*=|\*=|!=|=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\]]*?))\s*\]/y;

/**
 * Parses a path such as `presets[options.name*="4K"].options.timeout`.
 *
 * @throws ScriptError
 */
export function readPath(text: string, unquoted: (text: string) => string): readonly Step[] {
  const steps: Step[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const at = step.lastIndex;
    const found = step.exec(text);
    if (found === null)
      throw new ScriptError(`The path ${text.slice(0, 60)} cannot be read at ${text.slice(at, at + 12)}.`);
    const [, name, all, place, key, operator, value] = found;
    if (name !== undefined) {
      if (refused.has(name)) throw new ScriptError(`${name} cannot be changed by a variant.`);
      steps.push({ kind: 'member', name });
    } else if (all !== undefined) steps.push({ kind: 'all' });
    else if (place !== undefined) steps.push({ kind: 'place', index: Number(place) });
    else
      steps.push({
        kind: 'where',
        key: (key ?? '').split('.').filter((part) => part !== ''),
        operator: operator ?? '=',
        value: unquoted(value ?? ''),
      });
  }
  if (steps[0]?.kind !== 'member') throw new ScriptError('A path begins with a member of the configuration.');
  return steps;
}

/** Location in a configuration: an object or list with a key. */
export interface Place {
  readonly holder: Record<string, unknown> | unknown[];
  readonly at: string | number;
}

/**
 * Resolves a path to locations.
 *
 * @param create Creates missing objects on the path.
 * @param look Receives the number of items before a list is searched; may throw.
 */
export function placesOf(
  root: Record<string, unknown>,
  steps: readonly Step[],
  create: boolean,
  look: (items: number) => void,
): readonly Place[] {
  let places: readonly Place[] = [{ holder: { root }, at: 'root' }];
  for (const one of steps)
    places = places.flatMap((place) => {
      const value = valueAt(place);
      look(Array.isArray(value) ? value.length : 1);
      return below(place, one, create);
    });
  return places;
}

/** Returns the value at a location. */
export function valueAt({ holder, at }: Place): unknown {
  return Array.isArray(holder) ? holder[Number(at)] : Object.hasOwn(holder, at) ? holder[at] : undefined;
}

/** Sets the value at a location. */
export function putAt({ holder, at }: Place, value: unknown): void {
  if (Array.isArray(holder)) holder[Number(at)] = value;
  else holder[at] = value;
}

function below(place: Place, one: Step, create: boolean): readonly Place[] {
  let value = valueAt(place);
  if (value === undefined && create && one.kind === 'member') putAt(place, (value = {}));
  if (one.kind === 'member') return isRecord(value) ? [{ holder: value, at: one.name }] : [];
  if (!Array.isArray(value)) return [];
  const list = value as unknown[];
  if (one.kind === 'all') return [...list.keys()].map((at) => ({ holder: list, at }));
  if (one.kind === 'place') {
    const at = one.index < 0 ? list.length + one.index : one.index;
    return at >= 0 && at < list.length ? [{ holder: list, at }] : [];
  }
  return [...list.entries()].flatMap(([at, item]) => (fits(item, one) ? [{ holder: list, at }] : []));
}

function fits(item: unknown, { key, operator, value }: Step & { kind: 'where' }): boolean {
  let found = item;
  for (const name of key) found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  const text = typeof found === 'string' ? found : isPlain(found) ? String(found) : '';
  const includes = text.toLowerCase().includes(value.toLowerCase());
  if (operator === '*=') return includes;
  if (operator === '!*=') return !includes;
  return operator === '=' ? text === value : text !== value;
}

/** Returns true for objects that are no list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPlain(value: unknown): value is number | boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}
