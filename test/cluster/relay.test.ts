import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import { api } from '../support/api.ts';
import { publish } from '../support/describe-relay.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';
import { startNats, type NatsServer } from '../support/nats-server.ts';
import { openPostgresDatabase, startPostgres } from '../support/postgres.ts';
import { openPushStream, streamKinds, type PushStream } from '../support/push-stream.ts';

const wait = { timeout: 60_000, interval: 50 } as const;
const files = new AsyncDisposableStack();
let nats: NatsServer;

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  files.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function startHosts(url: string, more: Readonly<Record<string, string>> = {}): Promise<HostProcess[]> {
  const environment = {
    HOMEPORT_DATABASE_URL: url,
    HOMEPORT_VAULT_KEY: randomBytes(32).toString('base64'),
    ...more,
  };
  const first = files.use(await startHostProcess(createFolder(), { environment }));
  const second = files.use(await startHostProcess(createFolder(), { environment }));
  return [first, second];
}

/** Publishes numbered messages at both hosts until it is stopped, and returns those that were acknowledged. */
function publishContinuously(hosts: readonly HostProcess[], topic: string): () => Promise<readonly string[]> {
  const acknowledged: string[] = [];
  let isStopped = false;
  const runs = hosts.map(async (host, index) => {
    for (let n = 0; !isStopped; n++) {
      const text = `${String(index)}-${String(n)}`;
      await publish(host, topic, text);
      acknowledged.push(text);
    }
  });
  return async () => {
    isStopped = true;
    await Promise.all(runs);
    return acknowledged;
  };
}

async function expectComplete(streams: readonly PushStream[], acknowledged: readonly string[]): Promise<void> {
  const expected = acknowledged.toSorted();
  const [first] = streams;
  for (const { texts } of streams) {
    await vi.waitFor(() => expect(texts.toSorted()).toEqual(expected), wait);
    expect(texts).toEqual(first?.texts);
  }
}

async function readState(host: HostProcess): Promise<ServiceState | undefined> {
  const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
  return services.find(({ id }) => id === 'control');
}

const sleepMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

beforeAll(async () => {
  nats = files.use(await startNats());
});
afterAll(() => files.disposeAsync());

it('delivers every message once and in order across kill -9 and a pause of NATS', async () => {
  const { url } = files.use(await openPostgresDatabase());
  const hosts = await startHosts(url, { HOMEPORT_NATS_URL: nats.url });
  const streams = await Promise.all(
    hosts.flatMap((host) => streamKinds.map((kind) => openPushStream(host.url('push'), 'load', kind))),
  );
  const stop = publishContinuously(hosts, 'load');
  await sleepMs(2000);
  await nats.kill();
  const [first, second] = hosts as [HostProcess, HostProcess];
  await vi.waitFor(async () => expect((await readState(second))?.state).toBe('degraded'), wait);
  expect((await readState(second))?.reason).toContain('NATS isn’t reachable');
  // Without NATS, messages of the other host are read from the database.
  await publish(first, 'load', 'without NATS');
  await vi.waitFor(() => expect(streams.at(-1)?.texts).toContain('without NATS'), { timeout: 10_000, interval: 50 });
  await nats.restart();
  await vi.waitFor(async () => expect((await readState(second))?.state).toBe('up'), wait);
  await sleepMs(1000);
  nats.pause();
  await sleepMs(10_000);
  nats.resume();
  await sleepMs(2000);
  const acknowledged = await stop();
  await expectComplete(streams, [...acknowledged, 'without NATS']);
  for (const stream of streams) stream[Symbol.dispose]();
  for (const host of hosts) {
    expect(await host.stop()).toBe(0);
    expect([...host.output, ...host.errors].join('\n')).not.toContain(nats.password);
  }
}, 240_000);

it('delivers every message once and in order across a crash of PostgreSQL', async () => {
  const postgres = files.use(await startPostgres({ fsync: 'on' }));
  const hosts = await startHosts(postgres.url);
  const [first, second] = hosts as [HostProcess, HostProcess];
  const streams = await Promise.all(hosts.map((host) => openPushStream(host.url('push'), 'load', 'json')));
  const before = Array.from({ length: 20 }, (_, n) => `before ${String(n)}`);
  for (const text of before) await publish(first, 'load', text);
  await postgres.kill();
  await postgres.restart();
  const after = Array.from({ length: 20 }, (_, n) => `after ${String(n)}`);
  await vi.waitFor(() => Promise.all(hosts.map((host) => publish(host, 'probe', 'x'))), wait);
  for (const [n, text] of after.entries()) await publish(n % 2 === 0 ? first : second, 'load', text);
  await expectComplete(streams, [...before, ...after]);
  for (const stream of streams) stream[Symbol.dispose]();
}, 240_000);

it('keeps delivering at the other host after kill -9 of a host', async () => {
  const { url } = files.use(await openPostgresDatabase());
  const [first, second] = (await startHosts(url, { HOMEPORT_NATS_URL: nats.url })) as [HostProcess, HostProcess];
  using stream = await openPushStream(second.url('push'), 'load', 'json');
  await publish(first, 'load', '1');
  await first.kill();
  await publish(second, 'load', '2');
  await vi.waitFor(() => expect(stream.texts).toEqual(['1', '2']), { timeout: 10_000, interval: 20 });
}, 240_000);
