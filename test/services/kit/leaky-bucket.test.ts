import { describe, expect, it } from 'vitest';
import { LeakyBucket } from '../../../services/kit/leaky-bucket.ts';
import { RateLimiter } from '../../../services/kit/rate-limiter.ts';
import { createFakeClock } from '../../support/clock.ts';

const now = 1_000_000;

/** Returns a bucket that is full at `now`. */
function createFullBucket(capacity: number, drainMs: number): LeakyBucket {
  const bucket = new LeakyBucket({ capacity, drainMs });
  for (let count = 0; count < capacity; count += 1) expect(bucket.tryAdd(now)).toBe(0);
  return bucket;
}

describe('LeakyBucket', () => {
  it('allows a burst, and then one event per drain time', () => {
    const bucket = createFullBucket(3, 5000);
    expect(bucket.tryAdd(now)).toBe(5000);
    expect(bucket.tryAdd(now + 4999)).toBe(1);
    expect(bucket.tryAdd(now + 5000)).toBe(0);
    expect(bucket.tryAdd(now + 5000)).toBe(5000);
    expect(bucket.getWaitMs(now + 20_000)).toBe(0);
  });

  it('keeps the level when the clock is set back', () => {
    const bucket = createFullBucket(2, 1000);
    expect(bucket.getLevel(now - 3_600_000)).toBe(2);
    expect(bucket.tryAdd(now - 3_600_000 + 999)).toBe(1);
    expect(bucket.tryAdd(now - 3_600_000 + 1000)).toBe(0);
  });

  it('limits the level to the capacity, also for events that are only counted', () => {
    const bucket = createFullBucket(2, 1000);
    for (let count = 0; count < 10; count += 1) bucket.add(now);
    expect(bucket.getLevel(now)).toBe(2);
    expect(bucket.getLevel(now + 1500)).toBe(0.5);
  });

  it('removes one event, and all events', () => {
    const bucket = createFullBucket(2, 1000);
    bucket.remove();
    expect(bucket.getWaitMs(now)).toBe(0);
    bucket.clear();
    bucket.remove();
    expect(bucket.getLevel(now)).toBe(0);
  });
});

describe('RateLimiter', () => {
  it('limits each key separately', () => {
    const clock = createFakeClock();
    const limiter = new RateLimiter(clock, { capacity: 2, drainMs: 100 });
    expect(['a', 'a', 'a', 'b'].map((key) => limiter.take(key))).toEqual([true, true, false, true]);
    clock.advance(100);
    expect(['a', 'a'].map((key) => limiter.take(key))).toEqual([true, false]);
  });

  it('drops the least recently used keys above its maximum', () => {
    const limiter = new RateLimiter(createFakeClock(), { capacity: 1, drainMs: 100 });
    limiter.take('first');
    for (let index = 0; index < 5000; index += 1) limiter.take(`key ${String(index)}`);
    expect(limiter.take('first')).toBe(true);
    expect(limiter.take('key 4999')).toBe(false);
  });
});
