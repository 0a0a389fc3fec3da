import { describe, expect, it } from 'vitest';
import { getExponentialDelayMs, getListedDelayMs } from '../../../services/kit/backoff.ts';

describe('getExponentialDelayMs', () => {
  it('doubles the first delay with each failure up to the maximum', () => {
    const delays = [1, 2, 3, 4, 5, 5000].map((failures) =>
      getExponentialDelayMs({ firstMs: 1000, maxMs: 7000 }, failures),
    );
    expect(delays).toEqual([1000, 2000, 4000, 7000, 7000, 7000]);
  });
});

describe('getListedDelayMs', () => {
  it('takes the delays in order and repeats the last one', () => {
    expect([0, 1, 2, 3, 100].map((failures) => getListedDelayMs([10, 20, 30], failures))).toEqual([10, 10, 20, 30, 30]);
  });

  it('returns 0 for an empty list', () => {
    expect(getListedDelayMs([], 1)).toBe(0);
  });
});
