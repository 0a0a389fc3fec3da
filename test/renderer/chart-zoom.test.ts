import { expect, it } from 'vitest';
import { findRange, moveRange, scaleRange } from '../../renderer/src/parts/chart/zoom.ts';

const all = { first: 0, last: 23 };

it.each([
  ['halves the range around the selected point', all, 12, 0.5, { first: 6, last: 17 }],
  ['stays within the points at the end', all, 23, 0.5, { first: 12, last: 23 }],
  ['keeps at least three points', { first: 4, last: 7 }, 5, 0.5, { first: 4, last: 6 }],
  ['doubles the range', { first: 6, last: 11 }, 8, 2, { first: 4, last: 15 }],
  ['ends at all points', { first: 2, last: 19 }, 10, 2, all],
  ['enlarges a single point', { first: 5, last: 5 }, 5, 1, { first: 4, last: 6 }],
] as const)('scales a range of points: %s', (_, range, center, factor, expected) => {
  expect(scaleRange(range, { count: 24, center, factor })).toEqual(expected);
});

it('moves by as few points as the selected one needs', () => {
  expect(moveRange({ first: 4, last: 9 }, 2)).toEqual({ first: 2, last: 7 });
  expect(moveRange({ first: 4, last: 9 }, 11)).toEqual({ first: 6, last: 11 });
  expect(moveRange({ first: 4, last: 9 }, 6)).toEqual({ first: 4, last: 9 });
});

it('finds the points of a time span, unless it has too few', () => {
  const points = [10, 20, 30, 40, 50].map((at) => ({ at }));
  expect(findRange(points, { from: 20, to: 45 })).toEqual({ first: 1, last: 3 });
  expect(findRange(points, { from: 45, to: 60 })).toBeUndefined();
  expect(findRange(points, { from: 60, to: 70 })).toBeUndefined();
});
