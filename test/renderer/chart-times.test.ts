import { expect, it } from 'vitest';
import { getLabelledTimes } from '../../renderer/src/parts/chart/axis-labels.ts';
import { getTimeFormat, getRoundTimes } from '../../renderer/src/parts/chart/times.ts';

const clock = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const at = (hours: number, minutes: number, seconds = 0): number =>
  new Date(2026, 1, 3, hours, minutes, seconds).getTime() / 1000;

it.each([
  [
    'a day',
    at(-1, 13),
    at(22, 43),
    10,
    ['00:00:00', '03:00:00', '06:00:00', '09:00:00', '12:00:00', '15:00:00', '18:00:00', '21:00:00'],
  ],
  ['an hour', at(3, 12), at(4, 10), 4, ['03:15:00', '03:30:00', '03:45:00', '04:00:00']],
  ['half a minute', at(3, 12, 1), at(3, 12, 31), 3, ['03:12:10', '03:12:20', '03:12:30']],
] as const)('%s is named at round moments', (_, first, last, most, words) => {
  expect(getRoundTimes(first, last, most)?.map((time) => clock.format(time * 1000))).toEqual(words);
});

it('names days where times of day are not useful, and returns nothing for an empty span', () => {
  expect(getRoundTimes(at(0, 0), at(72, 0), 10)).toBeUndefined();
  expect(getRoundTimes(at(1, 0), at(1, 0), 10)).toBeUndefined();
});

it('formats days by date, hours with the time, and close times with seconds', () => {
  const points = (...times: readonly number[]) => times.map((time) => ({ at: time * 1000 }));
  expect(getTimeFormat('Day', points(at(12, 0), at(36, 0)))(at(12, 0) * 1000)).toBe('Tue, Feb 3');
  expect(getTimeFormat('Hour', points(at(8, 0), at(9, 0)))(at(9, 0) * 1000)).toBe('Tue, Feb 3, 09:00');
  expect(getTimeFormat('Time', points(at(9, 0), at(9, 0, 1)))(at(9, 0, 1) * 1000)).toBe('Tue, Feb 3, 09:00:01');
});

it('labels the last time of a line, and no round time that would overlap it', () => {
  const [first, last] = [at(-12, 35), at(12, 35)];
  const words = getLabelledTimes('line', [first, last], 400).map((time) => clock.format(time * 1000));
  expect(words).toEqual(['16:00:00', '20:00:00', '00:00:00', '04:00:00', '08:00:00', '12:35:00']);
});
