import type { JsonSchema } from '../../../../services/contracts/control/settings.ts';

/** What a text of a number and a unit counts, as a peer's configuration writes it: `12h`, `15M`. */
export type Quantity = 'duration' | 'size';

const units: Readonly<Record<Quantity, readonly (readonly [unit: string, words: string])[]>> = {
  duration: [
    ['s', 'seconds'],
    ['m', 'minutes'],
    ['h', 'hours'],
  ],
  size: [
    ['', 'bytes'],
    ['K', 'KiB'],
    ['M', 'MiB'],
    ['G', 'GiB'],
    ['T', 'TiB'],
  ],
};

/** Which one a setting's text is; undefined where it is any text. */
export function quantityOf({ quantity }: JsonSchema): Quantity | undefined {
  return quantity === 'duration' || quantity === 'size' ? quantity : undefined;
}

/** The units to choose from, with their words. */
export function unitsOf(quantity: Quantity): readonly (readonly [string, string])[] {
  return units[quantity];
}

/** Its two parts, also while the number is being typed; undefined for what is no one number, such as `1h30m`. */
export function readQuantity(
  quantity: Quantity,
  value: unknown,
): { readonly count: string; readonly unit: string } | undefined {
  const [, count, unit] = (typeof value === 'string' && /^([\d.]*)([a-z]*)$/i.exec(value)) || [];
  return count !== undefined && unit !== undefined && units[quantity].some(([each]) => each === unit)
    ? { count, unit }
    : undefined;
}

/** The text that is kept for what was typed, in which a comma is a point. */
export function writeQuantity(typed: string, unit: string): string {
  return `${typed.replaceAll(',', '.').replaceAll(/[^\d.]/g, '')}${unit}`;
}
