import { Problem } from '../../contracts/problem.ts';
import { readCalendar } from '../../kit/calendar.ts';

/**
 * Returns the first time of a cron rule after `now`, in milliseconds since 1970; undefined if there is none.
 * @throws Problem `sync.invalid` (422)
 */
export function getNextRun(rule: string, zone: string, now: number): number | undefined {
  const calendar = readCalendar(rule, zone, (field, detail, cause) => {
    const fields = { [field === 'rule' ? 'cron' : field]: detail };
    return new Problem('sync.invalid', 422, detail, { fields, cause });
  });
  return calendar.nextRun(new Date(now))?.getTime();
}
