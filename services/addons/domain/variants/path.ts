import { TextError } from '../text-error.ts';
import * as m from '#messages/addons-problems';
import { isRecord } from '../../../contracts/is-record.ts';

/** Problem of a script with a message for users. */
export class ScriptError extends TextError {
  override readonly name = 'ScriptError';
}

/** Segment of a path into a configuration. */
export type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'place'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'where'; readonly key: readonly string[]; readonly operator: string; readonly value: string };

/** Fields that scripts cannot change: identity and inheritance of the configuration, and the scripts themselves. */
const refusedNames = new Set([
  '__proto__',
  'constructor',
  'prototype',
  'uuid',
  'parentConfig',
  'variants',
  'accessKey',
]);
const stepPattern =
  /\.?([A-Za-z_][\w-]*)|\[\s*(?:(\*)|(-?\d+)|([\w.]*)\s*(!\*=|\*=|!=|=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\]]*?))\s*\]/y;

/**
 * Parses a path such as `presets[options.name*="4K"].options.timeout`.
 *
 * @throws ScriptError
 */
export function parsePath(text: string, unquote: (text: string) => string): readonly Step[] {
  const steps: Step[] = [];
  stepPattern.lastIndex = 0;
  while (stepPattern.lastIndex < text.length) {
    const startIndex = stepPattern.lastIndex;
    const match = stepPattern.exec(text);
    if (match === null)
      throw new ScriptError(() =>
        m.pathInvalid({ path: text.slice(0, 60), text: text.slice(startIndex, startIndex + 12) }),
      );
    const [, name, all, itemIndex, key, operator, value] = match;
    if (name !== undefined) {
      if (refusedNames.has(name)) throw new ScriptError(() => m.fieldNotChangeable({ name }));
      steps.push({ kind: 'member', name });
    } else if (all !== undefined) steps.push({ kind: 'all' });
    else if (itemIndex !== undefined) steps.push({ kind: 'place', index: Number(itemIndex) });
    else
      steps.push({
        kind: 'where',
        key: (key ?? '').split('.').filter((part) => part !== ''),
        operator: operator ?? '=',
        value: unquote(value ?? ''),
      });
  }
  if (steps[0]?.kind !== 'member') throw new ScriptError(m.pathStartInvalid);
  return steps;
}

/** Location in a configuration: an object or list with a key. */
export interface Location {
  readonly container: Record<string, unknown> | unknown[];
  readonly key: string | number;
}

/**
 * Resolves a path to locations.
 *
 * @param createMissing Creates missing objects on the path.
 * @param countItems Receives the number of items before a list is searched; may throw.
 */
export function resolveLocations(
  root: Record<string, unknown>,
  steps: readonly Step[],
  createMissing: boolean,
  countItems: (items: number) => void,
): readonly Location[] {
  let locations: readonly Location[] = [{ container: { root }, key: 'root' }];
  for (const pathStep of steps)
    locations = locations.flatMap((location) => {
      const value = getValue(location);
      countItems(Array.isArray(value) ? value.length : 1);
      return resolveStep(location, pathStep, createMissing);
    });
  return locations;
}

/** Returns the value at a location. */
export function getValue({ container, key }: Location): unknown {
  return Array.isArray(container) ? container[Number(key)] : Object.hasOwn(container, key) ? container[key] : undefined;
}

/** Sets the value at a location. */
export function setValue({ container, key }: Location, value: unknown): void {
  if (Array.isArray(container)) container[Number(key)] = value;
  else container[key] = value;
}

function resolveStep(location: Location, pathStep: Step, createMissing: boolean): readonly Location[] {
  let value = getValue(location);
  if (value === undefined && createMissing && pathStep.kind === 'member') setValue(location, (value = {}));
  if (pathStep.kind === 'member') return isRecord(value) ? [{ container: value, key: pathStep.name }] : [];
  if (!Array.isArray(value)) return [];
  const list = value as unknown[];
  if (pathStep.kind === 'all') return [...list.keys()].map((key) => ({ container: list, key }));
  if (pathStep.kind === 'place') {
    const index = pathStep.index < 0 ? list.length + pathStep.index : pathStep.index;
    return index >= 0 && index < list.length ? [{ container: list, key: index }] : [];
  }
  return [...list.entries()].flatMap(([index, item]) =>
    matchesFilter(item, pathStep) ? [{ container: list, key: index }] : [],
  );
}

function matchesFilter(item: unknown, { key, operator, value }: Step & { kind: 'where' }): boolean {
  let current = item;
  for (const name of key) current = isRecord(current) && Object.hasOwn(current, name) ? current[name] : undefined;
  const text = typeof current === 'string' ? current : isPrimitive(current) ? String(current) : '';
  const includes = text.toLowerCase().includes(value.toLowerCase());
  if (operator === '*=') return includes;
  if (operator === '!*=') return !includes;
  return operator === '=' ? text === value : text !== value;
}

function isPrimitive(value: unknown): value is number | boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}
