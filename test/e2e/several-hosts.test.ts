import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { control } from '../../services/control/index.ts';
import { push } from '../../services/push/index.ts';
import type { HostList } from '../../services/contracts/control/hosts.ts';
import { api } from '../support/api.ts';
import { adminAuthorization, openTestHost, testEnvironment, type TestHost } from '../support/host.ts';
import { command, startHostProcess } from '../support/host-process.ts';
import { openPostgresDatabase } from '../support/postgres.ts';

const run = promisify(execFile);
const services = [push, control];
const open = new AsyncDisposableStack();
let environment: Record<string, string>;
let client: pg.Client;

beforeAll(async () => {
  const { url } = open.use(await openPostgresDatabase());
  environment = { HOMEPORT_DATABASE_URL: url, HOMEPORT_VAULT_KEY: randomBytes(32).toString('base64') };
  client = new pg.Client({ connectionString: url });
  await client.connect();
  open.defer(() => client.end());
});
afterAll(() => open.disposeAsync());

const listHosts = (base: string): Promise<HostList> => api<HostList>(base, '/api/hosts');

it('starts two hosts together on an empty database, and lists both until they stop', async () => {
  await using first = await openTestHost({ services, environment });
  const both = await Promise.all([1, 2].map(() => openTestHost({ services, environment })));
  await using hosts = new AsyncDisposableStack();
  for (const host of both) hosts.use(host);
  for (const host of [first, ...both]) {
    expect(host.host.failures()).toEqual({});
    const { isShared, hosts: entries } = await listHosts(host.url('control'));
    expect(isShared).toBe(true);
    expect(entries.map(({ state }) => state)).toEqual(['running', 'running', 'running']);
    expect(entries.filter(({ isCurrent }) => isCurrent)).toHaveLength(1);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(3);
  }
  await hosts.disposeAsync();
  expect((await listHosts(first.url('control'))).hosts).toHaveLength(1);
});

it('starts two hosts at the same time on a database without tables', async () => {
  await using empty = await openPostgresDatabase();
  const shared = { ...environment, HOMEPORT_DATABASE_URL: empty.url };
  const hosts = await Promise.all([1, 2].map(() => openTestHost({ services, environment: shared })));
  await using _hosts = new AsyncDisposableStack();
  for (const host of hosts) _hosts.use(host);
  for (const host of hosts) expect((await fetch(`${host.url('control')}/health/ready`)).status).toBe(200);
});

it('lists a killed host as offline, and one that stops as draining', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'hosts-'));
  open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  await using host = await openTestHost({ services, environment });
  const base = host.url('control');
  const program = await startHostProcess(dataDir, { environment: { ...environment, HOMEPORT_DRAIN_TIME: '300' } });
  await using _program = program;
  const findOther = async (): Promise<string | undefined> =>
    (await listHosts(base)).hosts.find(({ isCurrent }) => !isCurrent)?.state;
  expect(await findOther()).toBe('running');
  program.child.kill('SIGTERM');
  await vi.waitFor(async () => expect(await findOther()).toBe('draining'), { timeout: 10_000 });
  await program.kill();
  // Instead of a wait of 15 seconds.
  await client.query(`update host.hosts set seen_at = seen_at - 20000 where draining = 1`);
  expect(await findOther()).toBe('offline');
  const { stdout } = await run(process.execPath, [command, 'cluster', 'status', '--data-dir', dataDir], {
    env: testEnvironment(dataDir, { environment }),
  });
  expect(stdout.trim().split('\n')).toHaveLength(2);
  expect(stdout).toMatch(/: running, version .*/);
  expect(stdout).toMatch(/: not responding, version .*/);
  expect(stdout).not.toContain(environment['HOMEPORT_VAULT_KEY']);
  const metrics = await (await fetch(`${base}/metrics`, { headers: { authorization: adminAuthorization } })).text();
  expect(metrics).toMatch(/^homeport_host_info\{.*host="[A-Za-z0-9]{12}"/m);
}, 60_000);

it('refuses to run on tables of a newer version, and explains it', async () => {
  await using database = await openPostgresDatabase();
  const shared = { ...environment, HOMEPORT_DATABASE_URL: database.url };
  await (await openTestHost({ services, environment: shared }))[Symbol.asyncDispose]();
  const newer = new pg.Client({ connectionString: database.url });
  await newer.connect();
  try {
    await newer.query(`insert into push.migrations values ('900-newer')`);
    await using host = await openTestHost({ services, environment: shared });
    expect(host.host.failures()['push']).toContain('900-newer');
    expect(await (await fetch(`${host.url('control')}/health/ready`)).json()).toMatchObject({ reason: 'services' });
    await newer.query(`insert into host.migrations values ('901-newer')`);
    await expect(openTestHost({ services, environment: shared })).rejects.toMatchObject({
      code: 'database.newer',
      detail: expect.stringContaining('901-newer'),
    });
  } finally {
    await newer.end();
  }
});

describe('a key that another host replaced', () => {
  const readKey = async (host: TestHost): Promise<string | null> =>
    (await api<{ publicKey: string | null }>(host.url('control'), '/api/push/browsers')).publicKey;
  const listKeys = async (database: pg.Client): Promise<readonly string[]> => {
    const { rows } = await database.query<{ name: string }>(
      `select split_part(name, '-', 1) as name from push.keys where name like 'vapid%' order by name`,
    );
    return rows.map(({ name }) => name);
  };
  const waiting = { timeout: 15_000, interval: 100 };

  it('is used by hosts that run, whether it was replaced by a host or by a command', async () => {
    await using empty = await openPostgresDatabase();
    const shared = { ...environment, HOMEPORT_DATABASE_URL: empty.url };
    const database = new pg.Client({ connectionString: empty.url });
    await database.connect();
    await using _database = { [Symbol.asyncDispose]: () => database.end() };
    const dataDir = mkdtempSync(join(tmpdir(), 'hosts-'));
    open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
    await using second = await openTestHost({ services, environment: shared });
    const original = await readKey(second);
    expect(original).toEqual(expect.any(String));
    {
      await using first = await openTestHost({ services, environment: shared, dataDir });
      expect(await readKey(first)).toBe(original);
      await api(first.url('control'), '/api/services/push/keys/vapid/replace', { method: 'POST', body: '{}' });
      const replaced = await readKey(first);
      expect(replaced).not.toBe(original);
      await vi.waitFor(async () => expect(await readKey(second)).toBe(replaced), waiting);
    }
    const before = await readKey(second);
    await run(process.execPath, [command, 'keys', 'replace', 'push', 'vapid', '--data-dir', dataDir], {
      env: testEnvironment(dataDir, { environment: shared }),
    });
    await vi.waitFor(async () => expect(await readKey(second)).not.toBe(before), waiting);
    const current = await readKey(second);
    await using again = await openTestHost({ services, environment: shared, dataDir });
    expect(await readKey(again)).toBe(current);
    // No host has replaced a key that another one stored.
    expect(await listKeys(database)).toEqual(['vapid', 'vapid.replaced', 'vapid.replaced']);
  }, 60_000);
});
