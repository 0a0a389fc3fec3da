import { Cron } from 'croner';
import { isZone } from '../contracts/zone.ts';

/**
 * Five fields as cron has them, or a short form such as `@daily`, by the clock on the wall of a zone. A time of the day that
 * the switch to summer time leaves out comes right after it; one that comes twice in autumn counts once. Rules with a step
 * (every 30 minutes) follow the hours that really pass.
 * @throws when the text is no rule.
 */
export function parseCalendarRule(rule: string, zone: string): Cron {
  const mode = rule.startsWith('@') ? 'auto' : '5-part';
  return new Cron(rule, { timezone: zone, paused: true, fixedTimeRule: 'no-wildcard', mode });
}

/** The same for what a person wrote. @throws what `refuse` makes of the field that is wrong and a sentence about it. */
export function parseCalendarInput(
  rule: string,
  zone: string,
  refuse: (field: 'rule' | 'zone', detail: string, cause?: unknown) => Error,
): Cron {
  if (!isZone(zone)) throw refuse('zone', 'Use the name of a time zone, such as Europe/Berlin.');
  // Seconds and years are none of these fields: nothing comes due more often than once a minute.
  const isShort = /^@(yearly|annually|monthly|weekly|daily|hourly)$/i.test(rule);
  if (!isShort && !/^([0-9a-z*,/?#+-]+\s+){4}[0-9a-z*,/?#+-]+$/i.test(rule)) {
    throw refuse('rule', 'Write five fields: minute, hour, day of the month, month, day of the week.');
  }
  try {
    return parseCalendarRule(rule, zone);
  } catch (cause) {
    const detail = 'One of the five fields is not right. Minutes are 0 to 59, hours 0 to 23, weekdays 0 to 7.';
    throw refuse('rule', detail, cause);
  }
}
