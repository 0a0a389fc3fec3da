import { describe, expect, it } from 'vitest';
import { alignPrevious, formatChange, isComparable } from '../../renderer/src/parts/chart/comparison.ts';
import { formatChartCsv } from '../../renderer/src/parts/chart/csv.ts';

describe('formatChange', () => {
  const bars = { kind: 'bars', moment: 'Day' } as const;

  it('compares the sums of bars without the last one, which is still growing', () => {
    expect(formatChange([6, 6, 1], [5, 5, 90], bars)).toBe('+20%');
    expect(formatChange([1, 1, 500], [2, 2, 1], bars)).toBe('-50%');
    expect(formatChange([2, 2, 0], [2, 2, 9], bars)).toBe('0%');
  });

  it('includes the last bar where the bars are not periods of the calendar', () => {
    expect(formatChange([10, 20], [10, 10], { kind: 'bars', moment: 'Time' })).toBe('+50%');
  });

  it('compares only points with a value in both periods', () => {
    expect(formatChange([10, null, 30], [5, 500, null], { kind: 'line', moment: 'Time' })).toBe('+100%');
  });

  it('returns nothing without a previous value', () => {
    expect(formatChange([1, 2], [0, 0], { kind: 'line', moment: 'Time' })).toBe('');
    expect(formatChange([1, 2], [null, null], { kind: 'line', moment: 'Time' })).toBe('');
  });
});

it('offers a comparison only with values above zero', () => {
  expect(isComparable([null, 0, 3])).toBe(true);
  expect(isComparable([null, 0])).toBe(false);
  expect(isComparable([])).toBe(false);
});

it('aligns earlier values by time, within the tolerance', () => {
  const points = [1000, 1010, 1020, 1030].map((at) => ({ at }));
  const previous = [
    { at: 1, value: 7 },
    { at: 12, value: 8 },
    { at: 31, value: null },
  ];
  expect(alignPrevious(points, previous, { offset: 1000, tolerance: 5 })).toEqual([7, 8, null, null]);
  expect(alignPrevious(points, [], { offset: 1000, tolerance: 5 })).toEqual([null, null, null, null]);
});

it('formats a chart as CSV with quoted titles, empty gaps and full precision', () => {
  const points = [Date.UTC(2026, 10, 21, 9), Date.UTC(2026, 10, 21, 10)].map((at) => ({ at }));
  const columns = [
    { title: 'Time (ms), usual', values: [12.25, null] },
    { title: 'The "slow" ones', values: [1234567, 0] },
  ];
  expect(formatChartCsv('Hour', 'Hour', { points, columns })).toBe(
    'Hour,"Time (ms), usual","The ""slow"" ones"\r\n' +
      '2026-11-21T09:00:00.000Z,12.25,1234567\r\n' +
      '2026-11-21T10:00:00.000Z,,0\r\n',
  );
  const noon = [new Date(2026, 10, 3, 12).getTime()].map((at) => ({ at }));
  expect(formatChartCsv('Day', 'Day', { points: noon, columns: [] })).toBe('Day\r\n2026-11-03\r\n');
  expect(formatChartCsv('Month', 'Month', { points: noon, columns: [] })).toBe('Month\r\n2026-11\r\n');
});
