import { describe, expect, it } from 'vitest';
import { getDownSpans } from '../../renderer/src/pages/uptime/details/down-spans.ts';

const point = (timestamp: number, up: number, down: number) => ({
  timestamp,
  up,
  down,
  avgPing: null,
  minPing: null,
  maxPing: null,
  p95: null,
});

describe('getDownSpans', () => {
  it('ends a span at the next point or after the median gap', () => {
    const points = [point(0, 1, 0), point(60, 0, 1), point(120, 1, 0), point(180, 0, 1), point(36_000, 1, 0)];
    expect(getDownSpans(points)).toEqual([
      { from: 60_000, to: 120_000 },
      { from: 180_000, to: 240_000 },
    ]);
  });

  it('covers the share of failed checks in an hour', () => {
    expect(getDownSpans([point(0, 45, 15), point(3600, 60, 0)])).toEqual([{ from: 0, to: 900_000 }]);
  });

  it('returns an empty span for a single point', () => {
    expect(getDownSpans([point(5, 0, 1)])).toEqual([{ from: 5000, to: 5000 }]);
  });
});
