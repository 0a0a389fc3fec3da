import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Clock } from '../../../services/contracts/service.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openAuthFixture } from './auth-fixture.ts';

/** Real clock whose long timers expire on demand. */
function patientClock(): Clock & { passLongWaits(): void } {
  const waits = new Set<() => void>();
  const handle = (timer: NodeJS.Timeout): Disposable => ({ [Symbol.dispose]: () => clearTimeout(timer) });
  return {
    now: () => Date.now(),
    after(ms, call) {
      if (ms < 60_000) return handle(setTimeout(call, ms).unref());
      waits.add(call);
      return { [Symbol.dispose]: () => void waits.delete(call) };
    },
    every: (ms, call) => handle(setInterval(call, ms).unref()),
    passLongWaits() {
      const all = [...waits];
      waits.clear();
      for (const call of all) call();
    },
  };
}

test('runs PostgreSQL from the first request until it is idle, and starts it again', async () => {
  const clock = patientClock();
  await using fixture = await openAuthFixture({ clock: { ...clock, advance: () => undefined } });
  const file = join(fixture.host.dataDir, 'data', 'cluster', 'postmaster.pid');
  const server = (): number | undefined => {
    try {
      const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
      process.kill(pid, 0);
      return pid;
    } catch {
      return undefined;
    }
  };
  expect(server()).toBeUndefined();
  await fixture.sql('create table kept (id int primary key); insert into kept values (1)');
  const first = server();
  expect(first).toBeDefined();
  // A further request restarts the idle time and is answered.
  expect(await fixture.sql('select id from kept')).toEqual([{ id: 1 }]);
  clock.passLongWaits();
  await expect.poll(server, { timeout: 20_000 }).toBeUndefined();
  expect(await fixture.sql('select id from kept')).toEqual([{ id: 1 }]);
  expect(server()).toBeDefined();
  expect(server()).not.toBe(first);
});

test('reports the last known state while PostgreSQL is stopped', async () => {
  const clock = patientClock();
  await using fixture = await openAuthFixture({ clock: { ...clock, advance: () => undefined } });
  const readOverview = async (): Promise<any> => {
    const reply = await fetch(`${fixture.host.url('control')}/api/data/overview`, {
      headers: { authorization: adminAuthorization },
    });
    return reply.json();
  };
  expect(await readOverview()).toMatchObject({ state: 'asleep', inside: null, lastSeen: null });
  await fixture.sql('create table kept (id int primary key); insert into kept values (1), (2)');
  // Nobody looked while it was running.
  const readStateAfterIdleTime = async (): Promise<unknown> => {
    // Reading the state of a running server postpones its stop.
    clock.passLongWaits();
    return (await readOverview()).state;
  };
  await expect.poll(readStateAfterIdleTime, { timeout: 20_000, interval: 1000 }).toBe('asleep');
  expect(await readOverview()).toMatchObject({
    inside: null,
    lastSeen: {
      takenAt: expect.any(Number),
      version: expect.stringMatching(/^\d+/),
      tables: 1,
      users: 0,
      bytes: expect.any(Number),
      largest: [{ schema: 'public', name: 'kept', rows: 2, isEstimate: false, bytes: expect.any(Number) }],
    },
  });
});
