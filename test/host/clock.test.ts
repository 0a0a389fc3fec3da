import { expect, test } from 'vitest';
import { systemClock } from '../../main/host/clock.ts';
import { systemRandom } from '../../main/host/random.ts';

test('a timer calls once, a repeated one until it is disposed', async () => {
  let once = 0;
  let often = 0;
  systemClock.after(1, () => (once += 1));
  await new Promise<void>((resolve) => {
    const repeating = systemClock.every(1, () => {
      often += 1;
      if (often < 3) return;
      repeating[Symbol.dispose]();
      resolve();
    });
  });
  await new Promise<void>((resolve) => void systemClock.after(10, resolve));
  expect([once, often]).toEqual([1, 3]);
});

test('a timer for later than Node can wait does not call early, and can be cancelled', async () => {
  let called = false;
  const cancelled = systemClock.after(1, () => (called = true));
  cancelled[Symbol.dispose]();
  using _later = systemClock.after(2 ** 40, () => (called = true));
  await new Promise<void>((resolve) => void systemClock.after(20, resolve));
  expect(called).toBe(false);
});

test('random text has the length asked for, of letters and digits that all occur', () => {
  expect(systemRandom.text(0)).toBe('');
  const text = systemRandom.text(10_000);
  expect(text).toMatch(/^[A-Za-z0-9]{10000}$/);
  expect(new Set(text).size).toBe(62);
  expect(systemRandom.bytes(16)).toHaveLength(16);
});
