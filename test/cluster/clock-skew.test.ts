import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, maxTakeoverMs, type StartOptions } from './cluster-fixture.ts';
import { openLoadedCluster, type LoadedCluster } from './loaded-cluster.ts';

/** More than leases, reports of hosts and checks may last; less than S3 servers accept (15 minutes). */
const shiftMs = 10 * 60_000;

let cluster: LoadedCluster;

/** Starts a host whose clock is wrong. */
function shifted(ms: number): StartOptions {
  const program = new URL('clock-shift.mjs', import.meta.url).href;
  return { environment: { NODE_OPTIONS: `--import=${program}`, CLOCK_SHIFT_MS: String(ms) } };
}

beforeAll(async () => {
  cluster = await openLoadedCluster([{}, shifted(shiftMs), shifted(-shiftMs)]);
});
afterAll(() => cluster[Symbol.asyncDispose]());

describe('three hosts whose clocks differ by ten minutes, under load', () => {
  it('lists all hosts as running, with times of the database', async () => {
    const { hosts } = await call<{ hosts: readonly { state: string; seenAt: number }[] }>(
      `${cluster.hosts[1]?.url('control') ?? ''}/api/hosts`,
    );
    expect(hosts.map(({ state }) => state)).toEqual(['running', 'running', 'running']);
    for (const { seenAt } of hosts) expect(Math.abs(seenAt - Date.now())).toBeLessThan(60_000);
  });

  it('runs with different clocks', async () => {
    const times = await Promise.all(
      cluster.hosts.map(async (host) => {
        const { time } = await call<{ time: number }>(`${host.url('push')}/clock`, 'POST', {});
        // Adding 0 turns -0 into 0.
        return Math.round((time * 1000 - Date.now()) / 60_000) + 0;
      }),
    );
    expect(times).toEqual([0, 10, -10]);
  });

  it('resumes work within ten seconds when hosts die one after another', async () => {
    for (const options of [shifted(shiftMs), {}]) {
      const victim = await cluster.findOwner();
      await cluster.expectResumed(async () => {
        await victim.kill();
        await pause(maxTakeoverMs);
      });
      cluster.remove(victim);
      await cluster.add(options);
    }
  });

  it('loses and repeats nothing', async () => {
    await cluster.expectNothingLost();
    expect(cluster.load.published.length).toBeGreaterThan(300);
  });
});
