import { expect, it } from 'vitest';
import { buildHourPaths, getHourPaths } from '../../renderer/src/pages/uptime/monitors/hour-bars.ts';

/** Returns the number of bars of each color. */
function countBars(hours: Parameters<typeof buildHourPaths>[0]): Record<string, number> {
  return Object.fromEntries(buildHourPaths(hours).map(([color, path]) => [color, path.split('z').length - 1]));
}

it('draws one path for each color, and none for colors without bars', () => {
  expect(countBars([1, 1, null, 0, 'maintenance', 1])).toEqual({ up: 3, none: 1, down: 1, maintained: 1 });
  expect(countBars([1, 1])).toEqual({ up: 2 });
  expect(countBars([])).toEqual({});
});

it('draws an hour with some downtime in both colors, with a visible red part from below', () => {
  expect(countBars([0.99])).toEqual({ up: 1, down: 1 });
  const [, red] = buildHourPaths([0.99]).find(([color]) => color === 'down') ?? [];
  // 35% of 20 px from the bottom.
  expect(red).toMatch(/^M1\.5 13\.0/);
  const [, half] = buildHourPaths([0.5]).find(([color]) => color === 'down') ?? [];
  expect(half).toMatch(/^M1\.5 10\.0/);
});

it('places each hour next to the one before', () => {
  const [, path = ''] = buildHourPaths([1, 1, 1])[0] ?? [];
  expect([...path.matchAll(/M([\d.]+) /g)].map(([, x]) => Number(x))).toEqual([1.5, 7.5, 13.5]);
});

it('builds the paths of the same hours once', () => {
  const hours = [1, null];
  expect(getHourPaths(hours)).toEqual(buildHourPaths(hours));
  expect(getHourPaths(hours)).toBe(getHourPaths(hours));
  expect(getHourPaths([0, null])).not.toEqual(getHourPaths(hours));
});
