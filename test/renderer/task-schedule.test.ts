import * as syncMessages from '#messages/sync';
import { describe, expect, it } from 'vitest';
import { formatSchedule } from '../../renderer/src/pages/sync/tasks/task-schedule.ts';

const winter = Date.UTC(2026, 0, 10);
const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** Time zone that is ahead of this computer's by the given offset, all year. */
const hoursFromNow = (hours: number): string => {
  const localOffset = -new Date(winter).getTimezoneOffset() / 60;
  const offset = localOffset + hours;
  return offset === 0 ? 'UTC' : `Etc/GMT${offset > 0 ? '-' : '+'}${String(Math.abs(offset))}`;
};

describe('formatSchedule', () => {
  it('formats the schedule in local time', () => {
    expect(formatSchedule({ cron: '30 3 * * *', zone: localZone }, winter)).toBe(
      syncMessages.everyDayAtTime({ time: '03:30' }),
    );
    expect(formatSchedule({ cron: null, zone: localZone }, winter)).toBe('');
    expect(formatSchedule({ cron: '0 * * * *', zone: hoursFromNow(2) }, winter)).toBe(syncMessages.everyHour());
  });

  it('adds the time of another time zone', () => {
    const zone = hoursFromNow(2);
    expect(formatSchedule({ cron: '30 3 * * *', zone }, winter)).toBe(
      syncMessages.timeInZone({ schedule: syncMessages.everyDayAtTime({ time: '01:30' }), time: '03:30', zone }),
    );
    expect(formatSchedule({ cron: '0 1 * * 1', zone }, winter)).toBe(
      syncMessages.dayAndTimeInZone({
        schedule: syncMessages.everyWeekdayAtTime({ day: 'Sunday', time: '23:00' }),
        day: 'Monday',
        time: '01:00',
        zone,
      }),
    );
    expect(formatSchedule({ cron: '0 0 1 * *', zone }, winter)).toBe(
      syncMessages.inZone({ schedule: syncMessages.byRule({ rule: '0 0 1 * *' }), zone }),
    );
    expect(formatSchedule({ cron: '0 1 * * 1', zone: 'Nowhere/AtAll' }, winter)).toBe(
      syncMessages.inZone({
        schedule: syncMessages.everyWeekdayAtTime({ day: 'Monday', time: '01:00' }),
        zone: 'Nowhere/AtAll',
      }),
    );
  });
});
