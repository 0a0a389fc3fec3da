import * as m from '#messages/kit-problems';
import { Cron } from 'croner';
import { isZone } from '../contracts/zone.ts';

/**
 * Parses a cron expression with five fields, or a short form such as `@daily`, in the wall-clock time of a zone. A
 * time skipped by the change to summer time comes right after it; a time that occurs twice in autumn counts once.
 * Rules with a step (every 30 minutes) follow elapsed time.
 * @throws when the text is not a valid rule.
 */
export function parseCalendarRule(rule: string, zone: string): Cron {
  const mode = rule.startsWith('@') ? 'auto' : '5-part';
  return new Cron(rule, { timezone: zone, paused: true, fixedTimeRule: 'no-wildcard', mode });
}

/**
 * Parses a rule that a user entered.
 * @throws the error that `refuse` builds from the invalid field and a message.
 */
export function parseCalendarInput(
  rule: string,
  zone: string,
  refuse: (field: 'rule' | 'zone', detail: string, cause?: unknown) => Error,
): Cron {
  if (!isZone(zone)) throw refuse('zone', m.zoneInvalid());
  // Seconds and years are not allowed, so rules are due at most once a minute.
  const isShort = /^@(yearly|annually|monthly|weekly|daily|hourly)$/i.test(rule);
  if (!isShort && !/^([0-9a-z*,/?#+-]+\s+){4}[0-9a-z*,/?#+-]+$/i.test(rule)) {
    throw refuse('rule', m.calendarFieldsMissing());
  }
  try {
    return parseCalendarRule(rule, zone);
  } catch (cause) {
    throw refuse('rule', m.calendarFieldInvalid(), cause);
  }
}
