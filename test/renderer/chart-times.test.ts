import { expect, it } from 'vitest';
import { getLabelledTimes } from '../../renderer/src/parts/chart/axis-labels.ts';
import { getAxisFormat, getTimeFormat, getRoundTimes } from '../../renderer/src/parts/chart/times.ts';

const clock = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const toSeconds = (hours: number, minutes: number, seconds = 0): number =>
  new Date(2026, 1, 3, hours, minutes, seconds).getTime() / 1000;

it.each([
  [
    'a day',
    toSeconds(-1, 13),
    toSeconds(22, 43),
    10,
    ['00:00:00', '03:00:00', '06:00:00', '09:00:00', '12:00:00', '15:00:00', '18:00:00', '21:00:00'],
  ],
  ['an hour', toSeconds(3, 12), toSeconds(4, 10), 4, ['03:15:00', '03:30:00', '03:45:00', '04:00:00']],
  ['half a minute', toSeconds(3, 12, 1), toSeconds(3, 12, 31), 3, ['03:12:10', '03:12:20', '03:12:30']],
] as const)('labels %s at round times', (_, first, last, maxLabels, labels) => {
  expect(getRoundTimes(first, last, maxLabels)?.map((time) => clock.format(time * 1000))).toEqual(labels);
});

it('names days where times of day are not useful, and returns nothing for an empty span', () => {
  expect(getRoundTimes(toSeconds(0, 0), toSeconds(72, 0), 10)).toBeUndefined();
  expect(getRoundTimes(toSeconds(1, 0), toSeconds(1, 0), 10)).toBeUndefined();
});

it('formats days by date, hours with the time, and close times with seconds', () => {
  const points = (...times: readonly number[]) => times.map((time) => ({ at: time * 1000 }));
  expect(getTimeFormat('Day', points(toSeconds(12, 0), toSeconds(36, 0)))(toSeconds(12, 0) * 1000)).toBe('Tue, Feb 3');
  expect(getTimeFormat('Hour', points(toSeconds(8, 0), toSeconds(9, 0)))(toSeconds(9, 0) * 1000)).toBe(
    'Tue, Feb 3, 09:00',
  );
  expect(getTimeFormat('Time', points(toSeconds(9, 0), toSeconds(9, 0, 1)))(toSeconds(9, 0, 1) * 1000)).toBe(
    'Tue, Feb 3, 09:00:01',
  );
});

it.each([
  ['seconds within a few minutes', toSeconds(9, 0), toSeconds(9, 1), '09:01:00'],
  ['times of day up to two days', toSeconds(9, 0), toSeconds(33, 0), '09:00'],
  ['dates afterwards', toSeconds(9, 0), toSeconds(81, 0), 'Feb 6'],
] as const)('labels the axis with %s', (_, first, last, label) => {
  const points = [{ at: first * 1000 }, { at: last * 1000 }];
  expect(getAxisFormat(points)(last * 1000)).toBe(label);
});

it('labels the last time of a line, and no round time that would overlap it', () => {
  const [first, last] = [toSeconds(-12, 35), toSeconds(12, 35)];
  const labels = getLabelledTimes('line', [first, last], 400).map((time) => clock.format(time * 1000));
  expect(labels).toEqual(['16:00:00', '20:00:00', '00:00:00', '04:00:00', '08:00:00', '12:35:00']);
});
