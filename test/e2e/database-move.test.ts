import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openHousehold } from '../household/household.ts';
import { api } from '../support/api.ts';
import { adminAuthorization, openTestHost, testEnvironment, type TestHost } from '../support/host.ts';
import { command } from '../support/host-process.ts';
import { openPostgresDatabase } from '../support/postgres.ts';

const run = promisify(execFile);
/** Parts with data of all services whose programs need no installation. */
const only = ['accounts', 'messages', 'delivery', 'uptime', 'sync', 'code', 'streaming'];
const topics = 'nas-info-backup,home-info-door,nas-error-disk';
const files = new AsyncDisposableStack();
let url: string;
let dataDir: string;

beforeAll(async () => {
  url = files.use(await openPostgresDatabase()).url;
  dataDir = mkdtempSync(join(tmpdir(), 'database-move-'));
  files.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  await (await openHousehold({ dataDir, only }))[Symbol.asyncDispose]();
}, 240_000);
afterAll(() => files.disposeAsync());

const getEnvironment = (withUrl = true): Record<string, string> =>
  testEnvironment(dataDir, { environment: withUrl ? { HOMEPORT_DATABASE_URL: url } : {} });

async function move(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [command, 'database', 'move', ...args, '--data-dir', dataDir], {
    env: getEnvironment(),
  });
  return stdout;
}

const fail = (...args: readonly string[]): Promise<unknown> =>
  move(...args).then(
    () => undefined,
    (error: { stderr: string }) => error.stderr,
  );

/** Returns texts that identify the data of the services, as their clients see it. Later work adds more. */
async function readContent(host: TestHost): Promise<readonly string[]> {
  const base = host.url('control');
  const paths = [
    '/accounts',
    '/inbox?limit=200',
    '/notify/keys',
    '/git/repositories',
    '/addons/profiles',
    '/uptime/monitors',
  ];
  const replies = await Promise.all(paths.map(async (path) => [path, await api(base, `/api${path}`)] as const));
  const found = replies.flatMap(([path, reply]) => {
    const names = collectNames(reply).map((name) => `${path} ${name}`);
    expect(names.length, path).toBeGreaterThan(0);
    return names;
  });
  const poll = await fetch(`${host.url('push')}/${topics}/json?poll=1&since=all`, {
    headers: { authorization: adminAuthorization },
  });
  const messages = (await poll.text()).split('\n').filter((line) => line.includes('"event":"message"'));
  expect(messages.length).toBeGreaterThan(0);
  const search = await api<{ messages: readonly unknown[] }>(base, `/api/push/search?words=backup`);
  expect(search.messages.length, 'the full-text search').toBeGreaterThan(0);
  return [...new Set([...found, ...messages])].toSorted();
}

/** Returns the names, titles and keys anywhere in a reply. */
function collectNames(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]: [string, unknown]) =>
    typeof each === 'string' && ['name', 'title', 'key', 'uuid'].includes(key) ? [each] : collectNames(each),
  );
}

const openMoved = (withUrl: boolean): Promise<TestHost> =>
  openTestHost({ dataDir, environment: withUrl ? { HOMEPORT_DATABASE_URL: url } : {} });

/** Starts a host on the same database with a data folder of its own. */
async function openOtherHost(): Promise<TestHost> {
  const folder = mkdtempSync(join(tmpdir(), 'database-move-'));
  files.defer(() => rmSync(folder, { recursive: true, force: true }));
  return openTestHost({ dataDir: folder, environment: { HOMEPORT_DATABASE_URL: url } });
}

const getTotals = (output: string): readonly string[] => output.split('\n').filter((line) => line.includes(': '));

// The tests of this file continue with the tables of the previous one.
let content: readonly string[];
let planned: readonly string[];

it('reports the tables without moving them, and refuses a running or crashed host', async () => {
  {
    await using host = await openMoved(false);
    content = await readContent(host);
    expect(await fail('sqlite', 'postgres'), 'a running host').toContain(dataDir);
  }
  const journal = join(dataDir, 'push', 'db.ended-1');
  writeFileSync(journal, '\n{}');
  expect(await fail('sqlite', 'postgres'), 'a host that has crashed').toContain('unexpectedly');
  truncateSync(journal);
  planned = getTotals(await move('sqlite', 'postgres', '--dry-run'));
  expect(planned.length).toBeGreaterThan(10);
  expect(existsSync(join(dataDir, 'push', 'db.sqlite'))).toBe(true);
});

it('moves all services to PostgreSQL after a move that was killed', async () => {
  // It leaves an incomplete target that no host uses.
  const child = spawn(process.execPath, [command, 'database', 'move', 'sqlite', 'postgres', '--data-dir', dataDir], {
    env: getEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGSTOP');
  await expect(openOtherHost()).rejects.toMatchObject({ code: 'database.moving' });
  child.kill('SIGKILL');
  await once(child, 'exit');
  // PostgreSQL notices the end of the process after a moment.
  await vi.waitFor(() => expect(openMoved(true)).rejects.toMatchObject({ code: 'database.move_incomplete' }), {
    timeout: 10_000,
    interval: 100,
  });
  expect(await fail('postgres', 'sqlite')).toBeTruthy();

  await vi.waitFor(async () => expect(getTotals(await move('sqlite', 'postgres'))).toEqual(planned), {
    timeout: 60_000,
    interval: 500,
  });
  const names = readdirSync(join(dataDir, 'push')).filter((name) => name.startsWith('db.sqlite'));
  expect(names.filter((name) => !name.includes('.moved_'))).toEqual([]);
  expect(names.length).toBeGreaterThan(0);
  {
    await using host = await openMoved(true);
    expect(host.host.failures()).toEqual({});
    expect(await readContent(host)).toEqual(expect.arrayContaining([...content]));
    expect(await fail('postgres', 'sqlite'), 'a running host').toBeTruthy();
  }
}, 240_000);

it('refuses a target with data', async () => {
  const otherDir = mkdtempSync(join(tmpdir(), 'database-move-'));
  files.defer(() => rmSync(otherDir, { recursive: true, force: true }));
  cpSync(dataDir, otherDir, { recursive: true });
  await (await openTestHost({ dataDir: otherDir }))[Symbol.asyncDispose]();
  const other = run(process.execPath, [command, 'database', 'move', 'sqlite', 'postgres', '--data-dir', otherDir], {
    env: getEnvironment(),
  });
  await expect(other).rejects.toMatchObject({ code: 1 });
}, 60_000);

it('moves all services back to SQLite', async () => {
  const back = await move('postgres', 'sqlite');
  expect(getTotals(back).length).toBeGreaterThan(10);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `select schema_name as name from information_schema.schemata where schema_name like 'push%'`,
  );
  await client.end();
  expect(rows).toEqual([{ name: expect.stringMatching(/^push_moved_/) }]);
  await using host = await openMoved(false);
  expect(await readContent(host)).toEqual(expect.arrayContaining([...content]));
}, 60_000);
