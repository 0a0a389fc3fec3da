/** Units that settings are counted in and nobody reads. */
export type AmountUnit = 'ms' | 'bytes';

/** What an amount is shown in, and how many of the setting's own unit one of it is. */
export interface Measure {
  readonly name: string;
  /** Behind a number in a sentence. */
  readonly short: string;
  readonly size: number;
}

export function isAmountUnit(unit: unknown): unit is AmountUnit {
  return unit === 'ms' || unit === 'bytes';
}

/** How an amount is shown. A few bytes stay bytes: they would be all zeros in MiB, and may stand for something else. */
export function measureOf(unit: AmountUnit, value: unknown): Measure {
  if (unit === 'ms') return { name: 'seconds', short: 's', size: 1000 };
  return typeof value === 'number' && value > 0 && value < 10_000
    ? { name: 'bytes', short: 'bytes', size: 1 }
    : { name: 'MiB', short: 'MiB', size: 2 ** 20 };
}

/** A refusal in the words of what is shown: `It must be 1000 or more.` of ms is one second. */
export function inMeasure(words: string, { short, size }: Measure): string {
  return words.replace(/\d[\d,]*/g, (figure) => {
    const number = Number(figure.replaceAll(',', '')) / size;
    return `${String(Number(number.toPrecision(6)))} ${short}`;
  });
}
