import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { machineApi, type MachineSample } from '../../../services/contracts/control/machine.ts';
import { ComputerHistory } from '../../../services/control/computer-history.ts';
import { control } from '../../../services/control/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openTestHost } from '../../support/host.ts';
import { silentLog } from '../../support/database-location.ts';

const minuteMs = 60_000;

it('samples the computer every five minutes and returns two days of samples with the current state', async () => {
  const clock = createFakeClock();
  let reads = 0;
  let fails = false;
  const machine = async () => {
    if (fails) throw new Error('no such disk');
    reads += 1;
    return Promise.resolve({
      cpu: 0.5,
      memory: { total: 1000, free: 1000 - reads, own: 7 },
      disk: reads % 2 === 0 ? null : { total: 500, free: 100 },
    });
  };
  using history = new ComputerHistory({ clock, log: silentLog, host: { machine } });
  history.start();
  const [route] = history.routes();
  const readHistory = () =>
    route?.handle({} as never) as Promise<{
      samples: readonly MachineSample[];
      previous: readonly MachineSample[];
      disk: number | null;
    }>;
  // Two samples of the same moment count as one.
  await vi.waitFor(async () => expect((await readHistory()).samples.map(({ cpu }) => cpu)).toEqual([0.5]));
  clock.advance(1);
  // No usage is measured before the first sample.
  expect((await readHistory()).samples.map(({ cpu }) => cpu)).toEqual([null, 0.5]);
  for (let count = 0; count < 300; count += 1) {
    clock.advance(5 * minuteMs);
    await nextTurn();
  }
  const { samples, previous } = await readHistory();
  expect(samples).toHaveLength(289);
  // The day before begins with the first sample, because the computer was not observed earlier.
  expect(previous).toHaveLength(12);
  expect(previous.at(-1)?.at).toBe(clock.now() - (24 * 60 + 5) * minuteMs);
  expect(samples.at(-1)).toMatchObject({ at: clock.now(), cpu: 0.5, memory: reads, own: 7 });
  expect(samples[0]?.at).toBe(clock.now() - 24 * 60 * minuteMs);
  expect(new Set(samples.map(({ disk }) => disk))).toEqual(new Set([null, 400]));
  // A failed sample leaves a gap.
  fails = true;
  clock.advance(5 * minuteMs);
  await nextTurn();
  fails = false;
  expect((await readHistory()).samples).toHaveLength(289);
  // After a long suspension, older samples are dropped.
  clock.advance(3 * 24 * 60 * minuteMs);
  await nextTurn();
  expect((await readHistory()).previous).toEqual([]);
  const timestamps = (await readHistory()).samples.map(({ at: timestamp }) => timestamp);
  expect(timestamps[0]).toBeGreaterThanOrEqual(clock.now() - 24 * 60 * minuteMs);
  expect(timestamps).toEqual([...new Set(timestamps)].toSorted((a, b) => a - b));
});

it('requires an administrator', async () => {
  await using host = await openTestHost({ services: [control] });
  const { memory, samples } = await api<{ memory: number; samples: readonly MachineSample[] }>(
    host.url('control'),
    machineApi.history.path,
  );
  const latest = samples.at(-1);
  expect(latest?.own).toBeGreaterThan(10e6);
  expect(latest?.memory).toBeLessThanOrEqual(memory);
  expect((await fetch(`${host.url('control')}${machineApi.history.path}`)).status).toBe(401);
});
