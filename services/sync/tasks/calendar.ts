import { Cron } from 'croner';
import { Problem } from '../../contracts/problem.ts';

/** The first time after `now` that a rule names, ms since the epoch; undefined: none. @throws Problem `sync.invalid` (422). */
export function nextTime(rule: string, zone: string, now: number): number | undefined {
  const wrong = (field: string, detail: string, cause?: unknown): Problem =>
    new Problem('sync.invalid', 422, detail, { fields: { [field]: detail }, cause });
  // Nothing comes due more often than once a minute, so there is no field for seconds.
  if (!/^([0-9a-z*,/?#+-]+\s+){4}[0-9a-z*,/?#+-]+$/i.test(rule)) {
    throw wrong('cron', 'Write five fields: minute, hour, day of the month, month, day of the week.');
  }
  try {
    return new Cron(rule, { timezone: zone, paused: true, mode: '5-part' }).nextRun(new Date(now))?.getTime();
  } catch (cause) {
    const isZone = cause instanceof RangeError || /time ?zone/i.test(String(cause));
    throw isZone
      ? wrong('zone', 'Use the name of a time zone, such as Europe/Berlin.', cause)
      : wrong(
          'cron',
          'One of the five fields is not right. Minutes are 0 to 59, hours 0 to 23, weekdays 0 to 7.',
          cause,
        );
  }
}
