import { isList, isMap, textOf, typeOf, type Value } from './values.ts';

/** A function of the template language. `room`: characters a result may have. */
export interface TemplateFunction {
  readonly least: number;
  readonly most: number;
  readonly call: (given: readonly Value[], room: number) => Value;
}

/** What a template did wrong while it ran, as the peer says it. */
export class RunFault extends Error {}

/** A function of so many arguments; without `most` of exactly `least`. */
export function of(
  least: number,
  call: (given: readonly Value[], room: number) => Value,
  most: number = least,
): TemplateFunction {
  return { least, most, call };
}

export function text(value: Value | undefined): string {
  return textOf(value ?? null, '');
}

/** Numbers and texts that read as one. @throws RunFault */
export function number(value: Value | undefined): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : 0;
  if (Number.isNaN(read)) throw new RunFault(`expected a number, got ${JSON.stringify(value)}`);
  return read;
}

export function whole(value: Value | undefined): number {
  return Math.trunc(number(value));
}

/** @throws RunFault */
export function list(value: Value | undefined): readonly Value[] {
  if (value === null || value === undefined) return [];
  if (isList(value)) return value;
  throw new RunFault(`expected a list, got ${typeOf(value)}`);
}

/** @throws RunFault */
export function map(value: Value | undefined): { readonly [name: string]: Value } {
  if (value === null || value === undefined) return {};
  if (isMap(value)) return value;
  throw new RunFault(`expected a map, got ${typeOf(value)}`);
}
