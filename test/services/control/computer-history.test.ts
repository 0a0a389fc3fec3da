import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { machineApi, type MachineSample } from '../../../services/contracts/control/machine.ts';
import { MachineHistory } from '../../../services/control/computer-history.ts';
import { control } from '../../../services/control/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openTestHost } from '../../support/host.ts';
import { silentLog } from '../../support/place.ts';

const minute = 60_000;

it('the machine is looked at every five minutes, and a day of it is told with how it is now', async () => {
  const clock = createFakeClock();
  let looks = 0;
  let fails = false;
  const machine = async () => {
    if (fails) throw new Error('no such disk');
    looks += 1;
    return Promise.resolve({
      ...{ cpu: 0.5, memory: { total: 1000, free: 1000 - looks, own: 7 } },
      disk: looks % 2 === 0 ? null : { total: 500, free: 100 },
    });
  };
  using history = new MachineHistory({ clock, log: silentLog, host: { machine } });
  history.start();
  const [route] = history.routes();
  const told = () => route?.handle({} as never) as Promise<{ samples: readonly MachineSample[]; disk: number | null }>;
  // Two looks at the same moment are one.
  await vi.waitFor(async () => expect((await told()).samples.map(({ cpu }) => cpu)).toEqual([0.5]));
  clock.advance(1);
  // Nothing was measured before the first look.
  expect((await told()).samples.map(({ cpu }) => cpu)).toEqual([null, 0.5]);
  for (let at = 0; at < 300; at += 1) {
    clock.advance(5 * minute);
    await nextTurn();
  }
  const { samples } = await told();
  expect(samples).toHaveLength(289);
  expect(samples.at(-1)).toMatchObject({ at: clock.now(), cpu: 0.5, memory: looks, own: 7 });
  expect(samples[0]?.at).toBe(clock.now() - 24 * 60 * minute);
  expect(new Set(samples.map(({ disk }) => disk))).toEqual(new Set([null, 400]));
  // One look that fails is a gap and no more.
  fails = true;
  clock.advance(5 * minute);
  await nextTurn();
  fails = false;
  expect((await told()).samples).toHaveLength(289);
  // A machine that slept for long has no line through days that nobody saw.
  clock.advance(3 * 24 * 60 * minute);
  await nextTurn();
  const after = (await told()).samples.map(({ at }) => at);
  expect(after[0]).toBeGreaterThanOrEqual(clock.now() - 24 * 60 * minute);
  expect(after).toEqual([...new Set(after)].toSorted((a, b) => a - b));
});

it('an administrator reads it, and nobody else', async () => {
  await using host = await openTestHost({ services: [control] });
  const { memory, samples } = await api<{ memory: number; samples: readonly MachineSample[] }>(
    host.url('control'),
    machineApi.history.path,
  );
  const now = samples.at(-1);
  expect(now?.own).toBeGreaterThan(10e6);
  expect(now?.memory).toBeLessThanOrEqual(memory);
  expect((await fetch(`${host.url('control')}${machineApi.history.path}`)).status).toBe(401);
});
