import { parseCalendarInput } from '../../../kit/calendar.ts';
import { invalidField } from '../invalid-field.ts';

/** When something comes due again and again. All times in unix seconds. */
export interface Rule {
  /** The first time after this one; undefined when there is none. */
  after(time: number): number | undefined;
  /** The last time before this one or at it; undefined when there is none. */
  upTo(time: number): number | undefined;
}

export interface RuleText {
  /** Five fields as cron has them, or a short form such as `@daily`. */
  readonly rule: string;
  /** A name of the time zone database. */
  readonly zone: string;
  /** Not before and not after, in unix seconds. */
  readonly starts?: number | null | undefined;
  readonly ends?: number | null | undefined;
}

/**
 * Reads a rule.
 * @throws Problem `push.invalid` (422) with the field `rule` or `zone`.
 */
export function readRule({ rule, zone, starts, ends }: RuleText): Rule {
  const cron = parseCalendarInput(rule, zone, invalidField);
  const first = starts ?? -Infinity;
  const last = ends ?? Infinity;
  return {
    after(time) {
      const found = seconds(cron.nextRun(dateOf(Math.max(time, first - 1))));
      return found === undefined || found > last ? undefined : found;
    },
    upTo(time) {
      const found = seconds(cron.previousRuns(1, dateOf(Math.min(time, last) + 1))[0]);
      return found === undefined || found < first ? undefined : found;
    },
  };
}

function dateOf(time: number): Date {
  return new Date(time * 1000);
}

function seconds(date: Date | null | undefined): number | undefined {
  return date ? Math.floor(date.getTime() / 1000) : undefined;
}
