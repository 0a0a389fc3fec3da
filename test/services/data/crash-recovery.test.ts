import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { signJwt } from '../../support/jwt.ts';
import { startHostProcess, type HostProcess } from '../../support/host-process.ts';
import { isMissing } from '../../support/requirements.ts';
import { jwtSecret, openDataFixture } from './data-fixture.ts';

/** Kills of the process during writes, and a full disk. */
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-data-'));
  folders.push(folder);
  return folder;
}

const iat = Math.floor(Date.now() / 1000);
const apikey = signJwt({ iss: 'supabase', role: 'service_role', iat, exp: iat + 86_400 }, jwtSecret);
const headers = { apikey, 'content-type': 'application/json' };

async function sendRequest(host: HostProcess, query: string): Promise<any[]> {
  const reply = await fetch(`${host.url('data')}/pg/query`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
  });
  expect(reply.status).toBe(200);
  return (await reply.json()) as any[];
}

test('loses no acknowledged row and starts one server after kill -9 during inserts', async () => {
  const dataDir = freshFolder();
  const environment = { DATA_JWT_SECRET: jwtSecret };
  const acknowledged: number[] = [];
  let next = 0;
  {
    await using host = await startHostProcess(dataDir, { environment });
    await sendRequest(host, 'create table kept (id int primary key)');
    let isRunning = true;
    const writer = async (): Promise<void> => {
      while (isRunning) {
        const id = (next += 1);
        const status = await fetch(`${host.url('data')}/rest/v1/kept`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ id }),
        }).then(
          (reply) => reply.status,
          () => 0,
        );
        if (status === 201) acknowledged.push(id);
        else isRunning = false;
      }
    };
    const writers = Promise.all(Array.from({ length: 4 }, writer));
    await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(100);
    await host.kill();
    await writers;
  }
  await using host = await startHostProcess(dataDir, { environment });
  const other = new Set((await sendRequest(host, 'select id from kept')).map(({ id }: { id: number }) => id));
  expect(acknowledged.filter((id) => !other.has(id))).toEqual([]);
  expect(await sendRequest(host, 'select pg_is_in_recovery() as recovers')).toEqual([{ recovers: false }]);
  // PostgreSQL ends together with the process.
  expect(await host.stop()).toBe(0);
});

test.skipIf(isMissing(process.platform === 'linux' && process.getuid?.() === 0))(
  'refuses inserts on a full disk, keeps acknowledged rows, and continues with free space',
  async () => {
    const dataDir = freshFolder();
    const disk = join(dataDir, 'data');
    mkdirSync(disk, { mode: 0o700 });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=110m,mode=0700', 'tmpfs', disk]);
    try {
      await using fixture = await openDataFixture({ dataDir });
      await fixture.sql(
        'create table kept (id int primary key, body text); alter table kept alter body set storage external',
      );
      const body = 'x'.repeat(400_000);
      const insert = (id: number): Promise<number> =>
        fixture
          .request('/rest/v1/kept', {
            method: 'POST',
            headers: { ...headers, apikey: fixture.serviceKey },
            body: JSON.stringify({ id, body }),
          })
          .then((reply) => reply.status);
      const acknowledged: number[] = [];
      let refused: number | undefined;
      for (let id = 1; id < 400 && refused === undefined; id += 1) {
        const status = await insert(id);
        if (status === 201) acknowledged.push(id);
        else refused = status;
      }
      expect(acknowledged.length).toBeGreaterThan(5);
      expect(refused).toBe(503);
      execFileSync('mount', ['-o', 'remount,size=400m', disk]);
      await expect.poll(() => insert(1000), { timeout: 30_000 }).toBe(201);
      const other = (await fixture.sql('select id from kept order by id')).map(({ id }: { id: number }) => id);
      expect(acknowledged.filter((id) => !other.includes(id))).toEqual([]);
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  },
);
