import { expect, it } from 'vitest';
import { historyOf } from '../../renderer/src/pages/uptime/history.ts';
import { groupOf } from '../../renderer/src/pages/uptime/monitor-filter.ts';
import { percentWords } from '../../renderer/src/pages/uptime/words.ts';
import { bySoonest, windowStanding } from '../../renderer/src/pages/uptime/maintenance-words.ts';
import type { Maintenance } from '../../services/contracts/uptime/maintenance.ts';
import type { Heartbeat } from '../../services/contracts/uptime/views.ts';

it('a share has two digits, and is never rounded up to a whole', () => {
  expect([1, 0.99999, 0.998, 0, null].map(percentWords)).toEqual([
    '100\u00a0%',
    '99.99\u00a0%',
    '99.80\u00a0%',
    '0.00\u00a0%',
    '',
  ]);
});

it('what is paused is neither up nor down, and what has no check yet waits', () => {
  const stood = (active: boolean, status: 0 | 1 | null) => groupOf({ active, state: { status } as never });
  expect([stood(true, 0), stood(true, 1), stood(false, 0), stood(true, null)]).toEqual([
    'down',
    'up',
    'paused',
    'unknown',
  ]);
});

it('it stands since before its first check here, unless that was a change', () => {
  const beat = (status: 0 | 1, time: string): Heartbeat => ({ status, msg: '', time }) as Heartbeat;
  const at = (time: string): number => Date.parse(`2026-11-27T${time}Z`);
  const first = beat(1, '2026-11-27 12:00:00');
  expect(historyOf([first], at('03:00:00'))).toMatchObject([{ status: 1, began: at('03:00:00'), until: undefined }]);
  expect(historyOf([first, beat(0, '2026-11-27 11:00:00')], at('03:00:00'))).toMatchObject([
    { status: 1, began: at('12:00:00') },
    { status: 0, began: at('11:00:00'), until: at('12:00:00') },
  ]);
  expect(historyOf([], null)).toEqual([]);
});

it('maintenance is told by days of the calendar, the next first', () => {
  const now = new Date(2026, 10, 27, 18).getTime();
  const starting = (
    title: string,
    day: number,
    hour: number,
    status: Maintenance['status'] = 'scheduled',
  ): Maintenance =>
    ({ title, status, upcoming: [{ startDate: new Date(2026, 10, day, hour).toISOString() }] }) as never;
  const windows = [
    starting('over', 26, 1, 'ended'),
    starting('late', 30, 23),
    starting('paused', 27, 19, 'inactive'),
    starting('early', 30, 3),
    starting('tonight', 28, 3),
    starting('tomorrow', 28, 20),
  ];
  const words = windows.toSorted(bySoonest).map((window) => `${window.title}: ${windowStanding(window, now).text}`);
  expect(words).toEqual([
    'tonight: Starts in 9 h',
    'tomorrow: Starts tomorrow',
    'early: Starts in 3 days',
    'late: Starts in 3 days',
    'paused: Paused',
    'over: Over',
  ]);
});
