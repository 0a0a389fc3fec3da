import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openPostgresDatabase } from '../../support/postgres.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Reads the process id of the server from the first line of its file. */
function postmaster(fixture: DataFixture): number {
  return Number(readFileSync(join(fixture.host.dataDir, 'data', 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

const insert = (fixture: DataFixture, id: number): Promise<number> =>
  fixture
    .request('/rest/v1/kept', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id }),
    })
    .then((reply) => reply.status);

test('answers 503 when PostgreSQL is killed during inserts, restarts it and loses no acknowledged row', async () => {
  await using fixture = await openDataFixture();
  await fixture.sql('create table kept (id int primary key)');
  const acknowledged: number[] = [];
  const seen = new Set<number>();
  let next = 0;
  let stop = false;
  const writer = async (): Promise<void> => {
    while (!stop) {
      const id = (next += 1);
      const status = await insert(fixture, id);
      seen.add(status);
      if (status === 201) acknowledged.push(id);
    }
  };
  const writers = Array.from({ length: 6 }, writer);
  for (let round = 0; round < 2; round += 1) {
    const before = acknowledged.length;
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 20);
    process.kill(-postmaster(fixture), 'SIGKILL');
    await expect.poll(() => seen.has(503)).toBe(true);
    const then = acknowledged.length;
    await expect.poll(() => acknowledged.length).toBeGreaterThan(then + 5);
  }
  stop = true;
  await Promise.all(writers);
  expect([...seen].filter((status) => status !== 201 && status !== 503)).toEqual([]);
  const other = new Set((await fixture.sql('select id from kept')).map(({ id }: { id: number }) => id));
  expect(acknowledged.filter((id) => !other.has(id))).toEqual([]);
});

test('recovers when a server process is killed, while requests wait or must be retried', async () => {
  await using fixture = await openDataFixture();
  await fixture.sql('create table kept (id int primary key)');
  const server = postmaster(fixture);
  const [first = ''] = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8').split(' ');
  process.kill(Number(first), 'SIGKILL');
  await expect.poll(() => insert(fixture, 1)).toBe(201);
});

test('stops PostgreSQL with the service and keeps the rows until the next start', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-data-'));
  folders.push(dataDir);
  {
    await using fixture = await openDataFixture({ dataDir });
    await fixture.sql('create table kept (id int primary key)');
    expect(await insert(fixture, 1)).toBe(201);
  }
  await using fixture = await openDataFixture({ dataDir });
  expect(await (await fixture.request('/rest/v1/kept')).json()).toEqual([{ id: 1 }]);
});

test('serves an external PostgreSQL with the same code', async () => {
  await using database = await openPostgresDatabase();
  await using fixture = await openDataFixture({ environment: { DATABASE_URL: database.url } });
  await fixture.sql('create table kept (id int primary key)');
  expect(await insert(fixture, 7)).toBe(201);
  expect(await (await fixture.request('/rest/v1/kept?select=id')).json()).toEqual([{ id: 7 }]);
  await fixture.sql('alter table kept add column note text');
  expect(await (await fixture.request('/rest/v1/kept?select=id,note')).json()).toEqual([{ id: 7, note: null }]);
});

test('works in a folder whose name is too long for a socket', async () => {
  const parentFolder = mkdtempSync(join(tmpdir(), 'homeport-data-'));
  folders.push(parentFolder);
  const dataDir = join(parentFolder, 'x'.repeat(120));

  mkdirSync(dataDir);
  await using long = await openDataFixture({ dataDir });
  await long.sql('create table kept (id int primary key)');
  expect(await insert(long, 1)).toBe(201);
});
