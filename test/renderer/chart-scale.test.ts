import { expect, it } from 'vitest';
import { getGridLines, buildScale } from '../../renderer/src/parts/chart/scale.ts';

it.each([
  ['nothing', 0, 180, [0, 1]],
  ['a few', 3, 180, [0, 1, 2, 3]],
  ['a top that is no round number', 103, 180, [0, 50, 100, 150]],
  ['many', 41_000, 180, [0, 10_000, 20_000, 30_000, 40_000, 50_000]],
  ['a low plot', 14, 80, [0, 10, 20]],
] as const)('uses whole grid lines up to at least the maximum for %s', (_, max, height, lines) => {
  expect(getGridLines(buildScale(max, height))).toEqual(lines);
});

it.each([
  ['a whole that is no round number', 189, 270.6, [0, 100, 200, 300]],
  ['a whole beside a round line', 5, 25.3, [0, 10, 20, 30]],
  ['a hundred per cent', 12, 100, [0, 50, 100]],
  ['values above what was said to be the whole', 30, 20, [0, 10, 20, 30]],
] as const)('parts of a whole have room for it: %s', (_, max, total, lines) => {
  expect(getGridLines(buildScale(max, 160, total))).toEqual(lines);
});
