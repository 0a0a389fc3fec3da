import { parseCalendarInput } from '../../../kit/calendar.ts';
import { invalidField } from '../invalid-field.ts';

/** Recurrence rule. All times are unix seconds. */
export interface RecurrenceRule {
  /** Returns the first time after this one; undefined without one. */
  after(time: number): number | undefined;
  /** Returns the last time before or at this one; undefined without one. */
  lastUntil(time: number): number | undefined;
}

export interface RecurrenceInput {
  /** Five cron fields, or a short form such as `@daily`. */
  readonly rule: string;
  /** IANA time zone name. */
  readonly zone: string;
  /** First and last possible time, in unix seconds. */
  readonly starts?: number | null | undefined;
  readonly ends?: number | null | undefined;
}

/**
 * Parses a rule.
 *
 * @throws Problem `push.invalid` (422) with the field `rule` or `zone`
 */
export function parseRecurrence({ rule, zone, starts, ends }: RecurrenceInput): RecurrenceRule {
  const cron = parseCalendarInput(rule, zone, invalidField);
  const first = starts ?? -Infinity;
  const last = ends ?? Infinity;
  return {
    after(time) {
      const occurrence = toSeconds(cron.nextRun(toDate(Math.max(time, first - 1))));
      return occurrence === undefined || occurrence > last ? undefined : occurrence;
    },
    lastUntil(time) {
      const occurrence = toSeconds(cron.previousRuns(1, toDate(Math.min(time, last) + 1))[0]);
      return occurrence === undefined || occurrence < first ? undefined : occurrence;
    },
  };
}

function toDate(time: number): Date {
  return new Date(time * 1000);
}

function toSeconds(date: Date | null | undefined): number | undefined {
  return date ? Math.floor(date.getTime() / 1000) : undefined;
}
