import * as m from '#messages/settings-form';
import type { JsonSchema } from '../../../../../services/contracts/control/settings.ts';

/** Kind of a number with a unit, as in configurations of peers: `12h`, `15M`. */
export type Quantity = 'duration' | 'size';

const units: Readonly<Record<Quantity, readonly (readonly [unit: string, label: () => string])[]>> = {
  duration: [
    ['s', m.seconds],
    ['m', m.minutes],
    ['h', m.hours],
  ],
  size: [
    ['', m.bytes],
    ['K', m.kibibytes],
    ['M', m.mebibytes],
    ['G', m.gibibytes],
    ['T', m.tebibytes],
  ],
};

/** Returns the kind of a setting; undefined for other texts. */
export function parseQuantityKind({ quantity }: JsonSchema): Quantity | undefined {
  return quantity === 'duration' || quantity === 'size' ? quantity : undefined;
}

/** Returns the units with their labels. */
export function getUnits(quantity: Quantity): readonly (readonly [string, string])[] {
  return units[quantity].map(([unit, label]) => [unit, label()]);
}

/** Parses number and unit, also while typing; undefined for other texts such as `1h30m`. */
export function parseQuantity(
  quantity: Quantity,
  value: unknown,
): { readonly count: string; readonly unit: string } | undefined {
  const [, count, unit] = (typeof value === 'string' && /^([\d.]*)([a-z]*)$/i.exec(value)) || [];
  return count !== undefined && unit !== undefined && units[quantity].some(([each]) => each === unit)
    ? { count, unit }
    : undefined;
}

/** Builds the stored text; a typed comma is a decimal point. */
export function stringifyQuantity(input: string, unit: string): string {
  return `${input.replaceAll(',', '.').replaceAll(/[^\d.]/g, '')}${unit}`;
}
