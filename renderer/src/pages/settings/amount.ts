import type { JsonSchema } from '../../../../services/contracts/control/settings.ts';

/** A number of milliseconds or bytes. */
export interface Amount {
  readonly unit: 'ms' | 'bytes';
  /** Below 10,000 it counts so many bytes each, as a peer's variable has it; 1: it is what it says. */
  readonly smallUnit: number;
}

/** What an amount is shown in, and how many of the setting's own unit one of it is. */
export interface Measure {
  readonly name: string;
  /** Behind a number in a sentence. */
  readonly short: string;
  readonly size: number;
}

const small = 10_000;

export function amountOf({ unit, smallUnit }: JsonSchema): Amount | undefined {
  if (unit !== 'ms' && unit !== 'bytes') return undefined;
  return { unit, smallUnit: typeof smallUnit === 'number' ? smallUnit : 1 };
}

/** How an amount is shown. A few bytes stay bytes: in MiB they would be all zeros. */
export function measureOf({ unit, smallUnit }: Amount, value: unknown): Measure {
  if (unit === 'ms') return { name: 'seconds', short: 's', size: 1000 };
  return typeof value === 'number' && value > 0 && value < small && smallUnit === 1
    ? { name: 'bytes', short: 'bytes', size: 1 }
    : { name: 'MiB', short: 'MiB', size: 2 ** 20 };
}

/** The number that people read: 7000 ms as `7`. */
export function shownAmount({ smallUnit }: Amount, { size }: Measure, value: number): string {
  const meant = value < small ? value * smallUnit : value;
  return String(Number((meant / size).toFixed(6)));
}

/** The setting's own number for what somebody typed; never one that would count as something else. */
export function typedAmount({ smallUnit }: Amount, { size }: Measure, typed: number): number {
  const value = Math.round(typed * size);
  return smallUnit !== 1 && value > 0 && value < small ? small : value;
}

/** A refusal in the words of what is shown: `It must be 1000 or more.` of ms is one second. */
export function inMeasure(words: string, { short, size }: Measure): string {
  return words.replace(/\d[\d,]*/g, (figure) => {
    const number = Number(figure.replaceAll(',', '')) / size;
    return `${String(Number(number.toFixed(6)))} ${short}`;
  });
}
