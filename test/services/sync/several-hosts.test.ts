import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { sync } from '../../../services/sync/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { openPostgresDatabase } from '../../support/postgres.ts';

const waiting = { timeout: 60_000, interval: 50 };
const files = new AsyncDisposableStack();
const vaultKey = randomBytes(32).toString('base64');
let url: string;
let folder: string;

beforeAll(async () => {
  url = files.use(await openPostgresDatabase()).url;
  folder = mkdtempSync(join(tmpdir(), 'sync-hosts-'));
  files.defer(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'from'));
  mkdirSync(join(folder, 'to'));
  writeFileSync(join(folder, 'from', 'a'), '1');
});
afterAll(() => files.disposeAsync());

const openSync = (): Promise<TestHost> =>
  openTestHost({
    services: [sync, control],
    environment: { HOMEPORT_DATABASE_URL: url, HOMEPORT_VAULT_KEY: vaultKey, RCLONE_PATH: '/nowhere/rclone' },
  });

interface Run {
  readonly id: number;
  readonly state: string;
}

async function listRuns(host: TestHost): Promise<readonly Run[]> {
  return (await api<{ items: readonly Run[] }>(host.url('control'), '/api/sync/jobs')).items;
}

it('repeats a run of a host that has ended, and leaves those of running hosts', async () => {
  await using first = await openSync();
  const fields = { name: 'Photos', mode: 'sync', source: join(folder, 'from'), destination: join(folder, 'to') };
  const init = { method: 'POST', body: JSON.stringify({ ...fields, retries: 0 }) };
  const task = await api<{ id: number }>(first.url('control'), '/api/sync/tasks', init);
  await using client = await connect();
  const insert = (id: number, host: string): Promise<unknown> =>
    client.query(
      `insert into sync.runs (id, kind, account, group_name, input, source, destination, state, started_at, error,
        output, stats, speeds, task_id, attempt, host)
        values ($1, 'run', 'ada', 'g', '{}', '', '', 'running', 1, '', '{}', '{}', '{}', $2, 1, $3)`,
      [id, task.id, host],
    );
  const { rows } = await client.query<{ name: string }>(`select name from host.leases where name like 'hosts/%'`);
  const running = rows[0]?.name.slice('hosts/'.length) ?? '';
  await insert(900_000, running);

  await using second = await openSync();
  const state = async (id: number) => (await listRuns(second)).find((run) => run.id === id)?.state;
  // Another host does not start the task while one runs it.
  const again = api(second.url('control'), `/api/sync/tasks/${String(task.id)}/run`, { method: 'POST', body: '{}' });
  await expect(again).rejects.toThrow('409');
  expect(await state(900_000)).toBe('running');

  await client.query('update sync.runs set state = $1, ended_at = 2 where id = 900000', ['done']);
  await insert(900_001, 'ended');
  await vi.waitUntil(async () => (await state(900_001)) === 'interrupted', waiting);
  await vi.waitUntil(
    async () => (await listRuns(second)).some((run) => run.state === 'done' && run.id < 900_000),
    waiting,
  );
  expect((await listRuns(second)).filter((run) => run.id < 900_000)).toHaveLength(1);
});

it('starts a run once when two hosts start it at the same time', async () => {
  await using first = await openSync();
  await using second = await openSync();
  const fields = { name: 'Music', mode: 'sync', source: join(folder, 'from'), destination: join(folder, 'to') };
  const init = { method: 'POST', body: JSON.stringify({ ...fields, retries: 0 }) };
  const task = await api<{ id: number }>(first.url('control'), '/api/sync/tasks', init);
  await using client = await connect();
  // Both hosts find no run and try to store theirs.
  await client.query('begin');
  await client.query('lock table sync.runs in share row exclusive mode');
  const runs = [first, second].map((host) =>
    api(host.url('control'), `/api/sync/tasks/${String(task.id)}/run`, { method: 'POST', body: '{}' }),
  );
  await vi.waitFor(async () => {
    const { rows } = await client.query(
      `select 1 from pg_locks where relation = 'sync.runs'::regclass and not granted`,
    );
    expect(rows).toHaveLength(2);
  }, waiting);
  await client.query('commit');
  const results = await Promise.allSettled(runs);
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const [refused] = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  expect(refused).toContain('409');
  expect(refused).toContain('sync.runs');
  await vi.waitUntil(async () => (await countTaskRuns(client, task.id, 'done')) === 1, waiting);
  expect(await countTaskRuns(client, task.id)).toBe(1);
});

it('runs a task again whose previous end could not be stored', async () => {
  await using host = await openSync();
  const fields = { name: 'Books', mode: 'sync', source: join(folder, 'from'), destination: join(folder, 'to') };
  const init = { method: 'POST', body: JSON.stringify({ ...fields, retries: 0 }) };
  const task = await api<{ id: number }>(host.url('control'), '/api/sync/tasks', init);
  await using client = await connect();
  await client.query(`
    create function sync.refuse_end() returns trigger language plpgsql as $$ begin raise 'no space'; end $$;
    create trigger refuse_end before update on sync.runs for each row when (new.state = 'done')
      execute function sync.refuse_end()`);
  const start = () =>
    api(host.url('control'), `/api/sync/tasks/${String(task.id)}/run`, { method: 'POST', body: '{}' });
  await start();
  const isStored = (): boolean => host.log.some((line) => line.includes('sync job result not stored'));
  await vi.waitUntil(isStored, waiting);
  await client.query('drop trigger refuse_end on sync.runs; drop function sync.refuse_end()');
  // The row still counts as running at other hosts, but its host knows that it has ended.
  await vi.waitFor(start, waiting);
  await vi.waitUntil(async () => (await countTaskRuns(client, task.id, 'done')) === 1, waiting);
  expect(await countTaskRuns(client, task.id, 'interrupted')).toBe(1);
});

async function connect(): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function countTaskRuns(client: pg.Client, task: number, state = '%'): Promise<number> {
  const { rows } = await client.query('select 1 from sync.runs where task_id = $1 and state like $2', [task, state]);
  return rows.length;
}
