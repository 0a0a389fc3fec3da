import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maxTakeoverMs } from './cluster-fixture.ts';
import { openLoadedCluster, type LoadedCluster } from './loaded-cluster.ts';

/** A host hangs for longer than its leases are valid (6 s). */
const hangMs = 8000;
/** Time under load without a fault, so that the table contains messages before it. */
const undisturbedMs = 2000;

let cluster: LoadedCluster;

beforeAll(async () => {
  cluster = await openLoadedCluster([{}, {}, {}]);
  await pause(undisturbedMs);
});
afterAll(() => cluster[Symbol.asyncDispose]());

describe('three hosts behind a load balancer, under load', () => {
  it('resumes work within ten seconds after kill -9 of a host', async () => {
    const victim = await cluster.findOwner();
    await cluster.expectResumed(async () => {
      await victim.kill();
      await pause(maxTakeoverMs);
    });
    cluster.remove(victim);
    await cluster.add();
  });

  it('resumes work within ten seconds after a crash of NATS', async () => {
    await cluster.expectResumed(async () => {
      await cluster.nats.kill();
      await pause(7000);
      await cluster.nats.restart();
      await pause(3000);
    });
  });

  it('resumes work within ten seconds after a crash of PostgreSQL', async () => {
    await cluster.expectResumed(async () => {
      await cluster.postgres.kill();
      await pause(1000);
      await cluster.postgres.restart();
      await pause(maxTakeoverMs);
    });
  });

  it('resumes work within ten seconds while a host hangs, and after it continues', async () => {
    const victim = await cluster.findOwner();
    await cluster.expectResumed(async () => {
      victim.child.kill('SIGSTOP');
      await pause(hangMs);
      victim.child.kill('SIGCONT');
      await pause(4000);
    });
  });

  it('loses and repeats nothing', async () => {
    await cluster.expectNothingLost();
    expect(cluster.load.published.length).toBeGreaterThan(500);
    expect(cluster.load.subscribers.map(({ repeated }) => repeated)).toEqual([0, 0, 0, 0]);
  });
});
