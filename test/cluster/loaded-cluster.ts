import { json } from 'node:stream/consumers';
import pg from 'pg';
import { expect, vi } from 'vitest';
import type { Monitor } from '../../services/contracts/uptime/views.ts';
import { openTarget, type Target } from '../services/uptime/rig.ts';
import type { HostProcess } from '../support/host-process.ts';
import { startNats, type NatsServer } from '../support/nats-server.ts';
import { startPostgres, type PostgresServer } from '../support/postgres.ts';
import { startS3 } from '../support/s3-server.ts';
import { openTcpBalancer, type TcpBalancer } from '../support/tcp-balancer.ts';
import { call, maxTakeoverMs, openCluster, type StartOptions } from './cluster-fixture.ts';
import { notifyKey, startLoad, type ClusterLoad } from './cluster-load.ts';
import { GapMeter } from './gap-meter.ts';
import { expectNothingLost, type ReceivedNotification } from './load-checks.ts';

const waiting = { timeout: 60_000, interval: 50 } as const;

/** Hosts with all engines behind a load balancer, under load. */
export interface LoadedCluster extends AsyncDisposable {
  readonly postgres: PostgresServer;
  readonly nats: NatsServer;
  readonly balancer: TcpBalancer;
  readonly load: ClusterLoad;
  readonly hosts: readonly HostProcess[];
  /** Adds a host, and resolves when it receives connections. */
  add(options?: StartOptions): Promise<HostProcess>;
  /** Removes a host that has ended. */
  remove(host: HostProcess): void;
  /** Returns the host that checks the monitors. */
  findOwner(): Promise<HostProcess>;
  /** Causes a fault, and checks that all senders, subscribers and monitors continue within ten seconds. */
  expectResumed(fault: () => Promise<unknown>): Promise<void>;
  /** Stops the load, and checks that nothing acknowledged was lost, and nothing was done twice. */
  expectNothingLost(): Promise<void>;
}

/** Opens a cluster with one host for each of `hosts`. */
export async function openLoadedCluster(hosts: readonly StartOptions[]): Promise<LoadedCluster> {
  await using opening = new AsyncDisposableStack();
  const received: ReceivedNotification[] = [];
  const checks = new GapMeter();
  const postgres = opening.use(await startPostgres({ max_connections: '250' }));
  const nats = opening.use(await startNats());
  const s3 = opening.use(await startS3());
  const receiver = opening.use(await openReceiver(received, checks));
  const balancer = opening.use(await openTcpBalancer(['control', 'push', 'mail', 'notify', 'uptime']));
  const cluster = opening.use(
    await openCluster({
      HOMEPORT_DATABASE_URL: postgres.url,
      HOMEPORT_NATS_URL: nats.url,
      HOMEPORT_DRAIN_TIME: '2',
      NTFY_BASE_URL: balancer.url('push'),
      ...s3.environment,
    }),
  );
  const running: HostProcess[] = [];
  const add = async (options?: StartOptions): Promise<HostProcess> => {
    const host = await cluster.start(options);
    running.push(host);
    balancer.add(host);
    await vi.waitUntil(() => balancer.isReady(host), waiting);
    return host;
  };
  // The first one creates the tables.
  for (const options of hosts) await add(options);
  const monitor = await prepare(balancer, receiver);
  const load = opening.use(await startLoad(balancer));
  const resources = opening.move();
  return {
    postgres,
    nats,
    balancer,
    load,
    hosts: running,
    add,
    remove(host) {
      running.splice(running.indexOf(host), 1);
      balancer.remove(host);
    },
    findOwner: () => findOwner(postgres.url, running),
    expectResumed: (fault) => expectResumed(fault, load, checks),
    async expectNothingLost() {
      await load.stop();
      await expectNothingLost(load, postgres.url, balancer, received);
      await expectCheckedOnce(balancer, monitor);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** HTTP server that is monitored, and receives the notifications. */
function openReceiver(received: ReceivedNotification[], checks: GapMeter): Promise<Target> {
  return openTarget((request, response) => {
    if (request.method === 'POST') {
      void json(request).then((body) => {
        received.push(body as ReceivedNotification);
        response.end();
      });
      return;
    }
    checks.record();
    response.end();
  });
}

/** Creates the destination of the notifications, and the monitor. */
async function prepare(balancer: TcpBalancer, receiver: Target): Promise<Monitor> {
  const configuration = { config: receiver.url.replace('http:', 'json:'), format: 'text' };
  await call(`${balancer.url('notify')}/add/${notifyKey}`, 'POST', configuration);
  const settings = { type: 'http', name: 'load', url: receiver.url, interval: 1 };
  return call(`${balancer.url('uptime')}/api/monitors`, 'POST', settings);
}

async function findOwner(databaseUrl: string, hosts: readonly HostProcess[]): Promise<HostProcess> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ owner: string }>(
      `select owner from host.leases where name = 'uptime/checks'`,
    );
    const owner = rows[0]?.owner;
    // The second part of an owner is the id of its process.
    const pid = Number(owner?.split('|')[1]);
    const host = hosts.find(({ child }) => child.pid === pid);
    if (host === undefined) throw new Error(`no running host checks the monitors: ${String(owner)}`);
    return host;
  } finally {
    await client.end();
  }
}

async function expectResumed(fault: () => Promise<unknown>, load: ClusterLoad, checks: GapMeter): Promise<void> {
  const meters = new Map([
    ...load.gaps,
    ...load.subscribers.map(({ gaps }, index) => [`subscriber ${String(index)}`, gaps] as const),
    ['checks', checks] as const,
  ]);
  for (const meter of meters.values()) meter.reset();
  await fault();
  const gaps = [...meters].map(([name, { longestMs }]) => [name, Math.round(longestMs)] as const);
  expect(gaps.filter(([, ms]) => ms > maxTakeoverMs)).toEqual([]);
}

/** Two hosts would record two heartbeats per second. A check that a fault delays can be close to the next one. */
async function expectCheckedOnce(balancer: TcpBalancer, { id }: Monitor): Promise<void> {
  const url = `${balancer.url('uptime')}/api/monitors/${String(id)}/beats?limit=200`;
  const { items } = await call<{ items: readonly { time: string }[] }>(url);
  const times = items.map(({ time }) => Date.parse(`${time}Z`)).toSorted((a, b) => a - b);
  const short = times.slice(1).filter((time, index) => time - (times[index] ?? 0) < 500);
  expect(short.length).toBeLessThan(times.length / 5);
}
