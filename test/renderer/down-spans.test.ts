import { describe, expect, it } from 'vitest';
import { downSpansOf } from '../../renderer/src/pages/uptime/down-spans.ts';

const point = (timestamp: number, up: number, down: number) => ({
  timestamp,
  up,
  down,
  avgPing: null,
  minPing: null,
  maxPing: null,
  p95: null,
});

describe('when a monitor was down, by the points of its chart', () => {
  it('lasts until the next point, and no longer than usual where nothing was checked', () => {
    const points = [point(0, 1, 0), point(60, 0, 1), point(120, 1, 0), point(180, 0, 1), point(36_000, 1, 0)];
    expect(downSpansOf(points)).toEqual([
      { from: 60_000, to: 120_000 },
      { from: 180_000, to: 240_000 },
    ]);
  });

  it('is a share of an hour in which it was up as well', () => {
    expect(downSpansOf([point(0, 45, 15), point(3600, 60, 0)])).toEqual([{ from: 0, to: 900_000 }]);
  });

  it('has nothing to go by with one point', () => {
    expect(downSpansOf([point(5, 0, 1)])).toEqual([{ from: 5000, to: 5000 }]);
  });
});
