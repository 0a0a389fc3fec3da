import { Cron } from 'croner';
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
 * Reads a rule. A time of the day that the switch to summer time leaves out comes right after it; one that comes twice in
 * autumn counts once. Rules with a step (every 30 minutes) follow the hours that really pass.
 *
 * @throws Problem `push.invalid` (422) with the field `rule` or `zone`.
 */
export function readRule({ rule, zone, starts, ends }: RuleText): Rule {
  if (!isZone(zone)) throw invalidField('zone', 'Use the name of a time zone, such as Europe/Berlin.');
  const cron = parse(rule, zone);
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

function parse(rule: string, zone: string): Cron {
  // Seconds and years are none of these fields: nothing comes due more often than once a minute.
  const short = /^@(yearly|annually|monthly|weekly|daily|hourly)$/i.test(rule);
  if (!short && !/^([0-9a-z*,/?#+-]+\s+){4}[0-9a-z*,/?#+-]+$/i.test(rule)) {
    throw invalidField('rule', 'Write five fields: minute, hour, day of the month, month, day of the week.');
  }
  try {
    return new Cron(rule, {
      timezone: zone,
      paused: true,
      fixedTimeRule: 'no-wildcard',
      ...(!short && { mode: '5-part' }),
    });
  } catch (cause) {
    throw invalidField(
      'rule',
      'One of the five fields is not right. Minutes are 0 to 59, hours 0 to 23, weekdays 0 to 7.',
      cause,
    );
  }
}

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    // There is no other way to ask.
    return false;
  }
}

function dateOf(time: number): Date {
  return new Date(time * 1000);
}

function seconds(date: Date | null | undefined): number | undefined {
  return date ? Math.floor(date.getTime() / 1000) : undefined;
}
