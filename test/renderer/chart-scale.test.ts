import { expect, it } from 'vitest';
import { linesOf, scaleOf } from '../../renderer/src/parts/chart/scale.ts';

it.each([
  ['nothing', 0, 180, [0, 1]],
  ['a few', 3, 180, [0, 1, 2, 3]],
  ['a top that is no round number', 103, 180, [0, 50, 100, 150]],
  ['many', 41_000, 180, [0, 10_000, 20_000, 30_000, 40_000, 50_000]],
  ['a low plot', 14, 80, [0, 10, 20]],
] as const)('%s has whole lines, the last of them above every value', (_, max, height, lines) => {
  expect(linesOf(scaleOf(max, height))).toEqual(lines);
});
