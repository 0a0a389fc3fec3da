import { expect, it } from 'vitest';
import { toDailyHistory } from '../../../services/uptime/wire/daily-status.ts';

it('returns 90 days that end with today, with unknown days and maintenance', () => {
  const now = Date.parse('2026-11-29T15:00:00Z');
  const build = (day: string, up: number, down: number, maintenance = 0) => ({
    timestamp: Date.parse(`${day}T00:00:00Z`) / 1000,
    ...{ up, down, maintenance, avgPing: null, minPing: null, maxPing: null, p95: null },
  });
  const history = toDailyHistory(
    // The first day is older than the visible ones.
    [build('2026-08-31', 0, 10), build('2026-09-01', 8, 0), build('2026-11-28', 0, 0, 3), build('2026-11-29', 1, 1)],
    now,
  );
  expect(history.days).toHaveLength(90);
  expect(history.days[0]).toEqual({ start: Date.parse('2026-09-01T00:00:00Z'), uptime: 1 });
  expect(history.days.slice(-3).map(({ uptime }) => uptime)).toEqual([null, 'maintenance', 0.5]);
  expect(history.uptime).toBe(0.9);
});
