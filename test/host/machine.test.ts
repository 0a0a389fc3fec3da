import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { createMachineMonitor } from '../../main/host/runtime/machine.ts';

test('returns the same processor load to concurrent callers', async () => {
  let [now, busy, all] = [0, 0, 0];
  const machine = createMachineMonitor(tmpdir(), { now: () => now }, () => ({ busy, all }));
  [now, busy, all] = [5000, 2000, 5000];
  expect((await machine()).cpu).toBe(0.4);
  // A later window of some ms, too short for a processor tick.
  now += 3;
  expect((await machine()).cpu).toBe(0.4);
  [now, busy, all] = [6000, 2900, 6000];
  expect((await machine()).cpu).toBe(0.9);
});

test('returns no processor load right after a clock change', async () => {
  let [now, busy, all] = [0, 0, 0];
  const machine = createMachineMonitor(tmpdir(), { now: () => now }, () => ({ busy, all }));
  [now, busy, all] = [5000, 2000, 5000];
  expect((await machine()).cpu).toBe(0.4);
  [now, busy, all] = [3_600_000, 2010, 5010];
  expect((await machine()).cpu).toBe(0.4);
  [now, busy, all] = [3_605_000, 3500, 10_000];
  expect((await machine()).cpu).toBe(0.3);
});
