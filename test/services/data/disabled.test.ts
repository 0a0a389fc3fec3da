import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Clock } from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { data } from '../../../services/data/index.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { openDataFixture } from './data-fixture.ts';

const serviceFolder = fileURLToPath(new URL('../../../services/data', import.meta.url));

/** Real clock that counts the pending timers of this service. */
function watchedClock(): Clock & { readonly ofData: ReadonlySet<object> } {
  const ofData = new Set<object>();
  const trackTimer = (begin: (over: () => void) => NodeJS.Timeout): Disposable => {
    const wait = {};
    if (new Error('here').stack?.includes(serviceFolder) === true) ofData.add(wait);
    const timer = begin(() => ofData.delete(wait)).unref();
    return {
      [Symbol.dispose]() {
        ofData.delete(wait);
        clearTimeout(timer);
      },
    };
  };
  return {
    ofData,
    now: () => Date.now(),
    after: (ms, call) => trackTimer((over) => setTimeout(() => (over(), call()), ms)),
    every: (ms, call) => trackTimer(() => setInterval(call, ms)),
  };
}

/** Lists the files in the folder of the service. */
function listFiles({ dataDir }: TestHost): readonly string[] {
  return readdirSync(dataDir).includes('data') ? readdirSync(join(dataDir, 'data')) : [];
}

/** Process of the server; undefined when none runs. */
function findServer({ dataDir }: TestHost): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, 'data', 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

async function turn(host: TestHost, enabled: boolean): Promise<void> {
  const reply = await fetch(`${host.url('control')}/api/settings/data`, {
    method: 'PATCH',
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    body: JSON.stringify({ enabled }),
  });
  expect(reply.status, await reply.text()).toBe(200);
}

/** Returns true when the port accepts connections. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

test('uses no port, PostgreSQL, file or timer when it is disabled from the start', async () => {
  const clock = watchedClock();
  await using host = await openTestHost({
    services: [data, control],
    environment: { HOMEPORT_ENABLED_DATA: 'false' },
    clock,
  });
  expect(host.host.addresses()['data']).toBeUndefined();
  expect(clock.ofData.size).toBe(0);
  expect(listFiles(host)).toEqual([]);
});

test('listens without PostgreSQL while idle, and ends and resumes when it is disabled and enabled', async () => {
  const clock = watchedClock();
  await using fixture = await openDataFixture({ clock });
  const { host } = fixture;
  expect(findServer(host)).toBeUndefined();
  expect(listFiles(host)).not.toContain('cluster');
  const idleTimers = clock.ofData.size;
  await fixture.sql('create table kept (id int primary key); insert into kept values (1)');
  expect(findServer(host)).toBeDefined();
  // The idle timer is added to the usual timers.
  await expect.poll(() => clock.ofData.size).toBeGreaterThan(idleTimers);
  const port = host.port('data');

  await turn(host, false);
  await expect.poll(() => findServer(host), { timeout: 20_000 }).toBeUndefined();
  await expect.poll(() => answers(port), { timeout: 20_000 }).toBe(false);
  await expect.poll(() => clock.ofData.size, { timeout: 20_000 }).toBe(0);
  expect(host.host.addresses()['data']).toBeUndefined();

  await turn(host, true);
  await expect.poll(() => host.host.addresses()['data'], { timeout: 20_000 }).toBeDefined();
  expect(findServer(host)).toBeUndefined();
  const reply = await fetch(`${host.url('data')}/rest/v1/kept`, { headers: { apikey: fixture.serviceKey } });
  expect([reply.status, await reply.json()]).toEqual([200, [{ id: 1 }]]);
});
