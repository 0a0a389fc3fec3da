import { Problem } from '../../contracts/problem.ts';
import { parseCalendarInput } from '../../kit/calendar.ts';

/**
 * Returns the first time of a cron rule after `now`, in milliseconds since 1970; undefined if there is none.
 * @throws Problem `sync.invalid` (422)
 */
export function getNextRun(rule: string, zone: string, now: number): number | undefined {
  const calendar = parseCalendarInput(rule, zone, (field, detail, cause) => {
    const fields = { [field === 'rule' ? 'cron' : field]: detail };
    return new Problem('sync.invalid', 422, detail, { fields, cause });
  });
  return calendar.nextRun(new Date(now))?.getTime();
}
