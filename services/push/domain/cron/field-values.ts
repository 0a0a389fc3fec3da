/** Values of a field of a cron rule. */
export interface FieldRange {
  readonly min: number;
  readonly max: number;
  /** Names of the values, by number. */
  readonly names?: readonly string[];
}

/** Names of months and weekdays in rules, by number. Both 0 and 7 are Sunday. */
export const monthNames = ['', 'JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
export const weekdayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];

/**
 * Lists the values of a field with lists, ranges and steps in ascending order. Returns undefined for other fields, such as
 * the last day of a month.
 */
export function listValues(field: string, range: FieldRange): readonly number[] | undefined {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const partValues = listPart(part, range);
    if (partValues === undefined) return undefined;
    for (const value of partValues) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
}

function listPart(part: string, range: FieldRange): readonly number[] | undefined {
  const [, from = '', to, stepText] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part) ?? [];
  const first = from === '*' ? range.min : parseValue(from, range);
  // A single value with a step is the first one of all later values.
  const isOpen = from === '*' || (to === undefined && stepText !== undefined);
  const last = isOpen ? range.max : to === undefined ? first : parseValue(to, range);
  const step = Number(stepText ?? 1);
  if (first === undefined || last === undefined || last < first || step < 1) return undefined;
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);
}

function parseValue(text: string, { min, max, names = [] }: FieldRange): number | undefined {
  const value = /^\d+$/.test(text) ? Number(text) : names.indexOf(text.slice(0, 3));
  return value >= min && value <= max ? value : undefined;
}

/** Returns the step of a field that selects every n-th of all values; undefined for other fields. */
export function parseStep(field: string): number | undefined {
  const step = /^\*\/(\d+)$/.exec(field)?.[1];
  return step === undefined ? undefined : Number(step);
}

/** Returns whether three or more values follow each other, so that the first and the last one describe them. */
export function isRange(values: readonly number[]): boolean {
  return values.length >= 3 && values.every((value, index) => value === (values[0] ?? 0) + index);
}
