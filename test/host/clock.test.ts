import { expect, test } from 'vitest';
import { systemClock } from '../../main/host/runtime/clock.ts';
import { systemRandom } from '../../main/host/runtime/random.ts';

test('calls a timer once and an interval until its disposal', async () => {
  let timerCount = 0;
  let intervalCount = 0;
  systemClock.after(1, () => (timerCount += 1));
  await new Promise<void>((resolve) => {
    const repeating = systemClock.every(1, () => {
      intervalCount += 1;
      if (intervalCount < 3) return;
      repeating[Symbol.dispose]();
      resolve();
    });
  });
  await new Promise<void>((resolve) => void systemClock.after(10, resolve));
  expect([timerCount, intervalCount]).toEqual([1, 3]);
});

test('supports timers beyond the limit of Node, and their cancellation', async () => {
  let called = false;
  const cancelled = systemClock.after(1, () => (called = true));
  cancelled[Symbol.dispose]();
  using _later = systemClock.after(2 ** 40, () => (called = true));
  await new Promise<void>((resolve) => void systemClock.after(20, resolve));
  expect(called).toBe(false);
});

test('returns random text of the requested length with all letters and digits', () => {
  expect(systemRandom.text(0)).toBe('');
  const text = systemRandom.text(10_000);
  expect(text).toMatch(/^[A-Za-z0-9]{10000}$/);
  expect(new Set(text).size).toBe(62);
  expect(systemRandom.bytes(16)).toHaveLength(16);
});

test('returns each random byte once for any lengths', () => {
  const lengths = Array.from({ length: 2000 }, (_, index) => 16 + (index % 50)).concat(4095, 4096, 4097, 10_000);
  const drawn = lengths.map((length) => systemRandom.bytes(length));
  expect(drawn.map((bytes) => bytes.length)).toEqual(lengths);
  const allBytes = Buffer.concat(drawn);
  const windows = new Set<string>();
  for (let offset = 0; offset + 12 <= allBytes.length; offset += 12)
    windows.add(allBytes.toString('hex', offset, offset + 12));
  expect(windows.size).toBe(Math.floor(allBytes.length / 12));
  expect(new Set(allBytes).size).toBe(256);
  // Returned bytes do not change when more are drawn.
  const [first = new Uint8Array()] = drawn;
  const before = [...first];
  systemRandom.bytes(4096);
  expect([...first]).toEqual(before);
});
