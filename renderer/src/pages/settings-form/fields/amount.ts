import * as m from '#messages/settings-form';
import { defineNumberFormat } from '../../../../../messages/format.ts';
import { getLocale } from '../../../../../messages/language.ts';
import type { JsonSchema } from '../../../../../services/contracts/control/settings.ts';

/** Schema of a number of milliseconds or bytes. */
export interface Amount {
  readonly unit: 'ms' | 'bytes';
  /** Size in bytes of one unit for values below 10,000, as in variables of a peer; 1 if the value is unchanged. */
  readonly smallUnit: number;
}

/** Unit in which an amount is displayed, and its size in the unit of the setting. */
export interface DisplayUnit {
  readonly name: string;
  /** Unit after a number in a sentence. */
  readonly short: string;
  readonly size: number;
}

const smallLimit = 10_000;

export function parseAmount({ unit, smallUnit }: JsonSchema): Amount | undefined {
  if (unit !== 'ms' && unit !== 'bytes') return undefined;
  return { unit, smallUnit: typeof smallUnit === 'number' ? smallUnit : 1 };
}

/** Returns the display unit. A few bytes are shown in bytes, because they would be 0 in MiB. */
export function getDisplayUnit({ unit, smallUnit }: Amount, value: unknown): DisplayUnit {
  if (unit === 'ms') return { name: m.seconds(), short: m.secondsShort(), size: 1000 };
  return typeof value === 'number' && value > 0 && value < smallLimit && smallUnit === 1
    ? { name: m.bytes(), short: m.bytes(), size: 1 }
    : { name: m.mebibytes(), short: m.mebibytes(), size: 2 ** 20 };
}

/** Formats a value in the display unit: 7000 ms as `7`. */
export function formatAmount({ smallUnit }: Amount, { size }: DisplayUnit, value: number): string {
  const actualValue = value < smallLimit ? value * smallUnit : value;
  return String(Number((actualValue / size).toFixed(6)));
}

/** Converts typed input to the value of the setting; the result is never in the range with another unit. */
export function toSettingValue({ smallUnit }: Amount, { size }: DisplayUnit, input: number): number {
  const value = Math.round(input * size);
  return smallUnit !== 1 && value > 0 && value < smallLimit ? smallLimit : value;
}

const formatConverted = defineNumberFormat({ maximumFractionDigits: 6 });

/** Converts the numbers of an error message to the display unit: `It must be 1000 or more.` of ms is one second. */
export function convertMessage(message: string, { short, size }: DisplayUnit): string {
  // The host has formatted them for the same locale, with its separator of groups.
  const group = `[${getGroupSeparator()}]`;
  const number = new RegExp(`\\d(?:(?:\\d|${group})*\\d)?`, 'g');
  return message.replace(number, (digits) => {
    return `${formatConverted(Number(digits.replaceAll(/\D/g, '')) / size)} ${short}`;
  });
}

function getGroupSeparator(): string {
  const parts = new Intl.NumberFormat(getLocale()).formatToParts(1_234_567);
  return parts.find(({ type }) => type === 'group')?.value ?? ',';
}
