import { Problem } from '../../contracts/problem.ts';
import { parseCalendarInput } from '../../kit/calendar.ts';

/** The first time after `now` that a rule names, ms since the epoch; undefined: none. @throws Problem `sync.invalid` (422). */
export function nextTime(rule: string, zone: string, now: number): number | undefined {
  const calendar = parseCalendarInput(rule, zone, (field, detail, cause) => {
    const fields = { [field === 'rule' ? 'cron' : field]: detail };
    return new Problem('sync.invalid', 422, detail, { fields, cause });
  });
  return calendar.nextRun(new Date(now))?.getTime();
}
