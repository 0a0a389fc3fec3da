import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { signJwt } from '../support/jwt.ts';
import { startHostProcess } from '../support/host-process.ts';
import { startPostgres } from '../support/postgres.ts';
import { inFreshFolder, residentMegabytes } from './measure.ts';
import type { BenchOptions } from './run.ts';

const secret = 'a-secret-of-benches-that-is-long-enough';

/** Returns the median of times in ms. */
function median(times: readonly number[]): number {
  return times.toSorted((left, right) => left - right)[Math.floor(times.length / 2)] ?? NaN;
}

/** Returns the durations of sequential calls in milliseconds. */
async function timed(count: number, work: (index: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let row = 0; row < count; row += 1) {
    const start = performance.now();
    await work(row);
    times.push(performance.now() - start);
  }
  return times;
}

/**
 * Measures the data service over HTTP on a complete host with synced commits, compared with `pg` alone on PostgreSQL.
 */
export function benchData({ quick, print }: BenchOptions): Promise<void> {
  const rounds = quick ? 300 : 2000;
  return inFreshFolder(async (folder) => {
    const floor = await measureDriver(rounds);
    await using host = await startHostProcess(folder, { environment: { DATA_JWT_SECRET: secret } });
    const pid = host.child.pid ?? 0;
    const idleMegabytes = residentMegabytes(pid);
    const iat = Math.floor(Date.now() / 1000);
    const apikey = signJwt({ iss: 'supabase', role: 'service_role', iat, exp: iat + 86_400 }, secret);
    const send = async (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<string> => {
      const reply = await fetch(host.url('data') + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { apikey, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`${path}: ${String(reply.status)} ${text}`);
      return text;
    };
    const wake = performance.now();
    await send('/pg/query', { query: 'select 1' });
    const first = performance.now() - wake;
    await sleep(1000);
    const master = Number(readFileSync(join(folder, 'data', 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]);
    const [idleEngine, idleHost] = [residentOfGroup(master), residentMegabytes(pid)];
    await send('/pg/query', { query: tables });
    await timed(50, (row) => send('/rest/v1/kept', { id: -row - 1, body: 'warm' }));

    const before = [readCpuTicks(pid), ticksOfGroup(master)] as const;
    const inserts = await timed(rounds, (row) => send('/rest/v1/kept', { id: row + 1, body: `row ${String(row)}` }));
    const [hostWork, engineWork] = [readCpuTicks(pid) - before[0], ticksOfGroup(master) - before[1]];
    const concurrentStart = performance.now();
    const writer = (from: number) =>
      timed(rounds / 10, (row) => send('/rest/v1/kept', { id: from + row, body: 'together' }));
    await Promise.all(Array.from({ length: 10 }, (_, row) => writer((row + 1) * 1_000_000)));
    const parallel = performance.now() - concurrentStart;
    const reads = await timed(rounds, (row) => send(`/rest/v1/many?part=eq.${String(row % 1000)}&limit=100`));
    const signedUp = JSON.parse(
      await send('/auth/v1/signup', { email: 'bench@example.com', password: 'correct horse 1' }),
    ) as { access_token: string; refresh_token: string };
    const bearer = { Authorization: `Bearer ${signedUp.access_token}` };
    const users = await timed(rounds, () => send('/auth/v1/user', undefined, bearer));
    let token = signedUp.refresh_token;
    const refreshes = await timed(Math.min(rounds, 500), async () => {
      const reply = await send('/auth/v1/token?grant_type=refresh_token', { refresh_token: token });
      token = (JSON.parse(reply) as { refresh_token: string }).refresh_token;
    });
    await sleep(1000);
    const engine = residentOfGroup(master);
    await host.stop();
    // Measurements of the peers from the reference of the data service, on another computer with a load of 4 to 5.
    print(
      {
        what: 'insert of a row, one after another',
        measured: 1000 / mean(inserts),
        unit: '/s',
        peer: 1276,
        goal: { at: 'least', value: 1, of: 'ratio' },
      },
      { what: 'the same, the middle', measured: median(inserts), unit: 'ms', peer: 0.62 },
      {
        what: 'CPU of one insert, host and PostgreSQL',
        measured: ((hostWork + engineWork) * millisOfTick) / rounds,
        unit: 'ms',
        peer: 0.53,
      },
      { what: '… PostgreSQL alone', measured: (engineWork * millisOfTick) / rounds, unit: 'ms' },
      { what: 'inserts, 10 concurrent requests', measured: rounds / (parallel / 1000), unit: '/s', peer: 2207 },
      { what: 'the same by pg alone (floor)', measured: 1000 / mean(floor.inserts), unit: '/s' },
      { what: 'the same by pg with role, claims and JSON (floor)', measured: 1000 / mean(floor.asRequest), unit: '/s' },
      {
        what: '100 of 100,000 rows by a filter, the middle',
        measured: median(reads),
        unit: 'ms',
        peer: 5,
        goal: { at: 'most', value: 1, of: 'ratio' },
      },
      { what: 'the same by pg alone (floor)', measured: median(floor.reads), unit: 'ms' },
      {
        what: 'GET /user, the middle',
        measured: median(users),
        unit: 'ms',
        peer: 52,
        goal: { at: 'most', value: 0.5, of: 'ratio' },
      },
      {
        what: 'refresh of a session, the middle',
        measured: median(refreshes),
        unit: 'ms',
        peer: 85,
        goal: { at: 'most', value: 0.5, of: 'ratio' },
      },
      { what: 'first request: the cluster is made', measured: first, unit: 'ms' },
      { what: 'host before the first request (resident)', measured: idleMegabytes, unit: 'MB' },
      { what: 'host while PostgreSQL is idle (resident)', measured: idleHost, unit: 'MB' },
      {
        what: 'PostgreSQL idle after its first request (its own memory, all processes)',
        measured: idleEngine,
        unit: 'MB',
        goal: { at: 'most', value: 25 },
      },
      { what: 'PostgreSQL after the run (its own memory, all processes)', measured: engine, unit: 'MB' },
    );
  });
}

const tables = `create table kept (id int primary key, body text);
  create table many (id int primary key, part int, body text); create index on many (part);
  insert into many select n, n % 1000, 'row number ' || n from generate_series(1, 100000) n; analyze many;`;

/** Measures the same without HTTP, roles and claims: the driver, a socket and the disk. */
async function measureDriver(
  rounds: number,
): Promise<Readonly<Record<'inserts' | 'asRequest' | 'reads', readonly number[]>>> {
  await using server = await startPostgres({ fsync: 'on' });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    const {
      rows: [{ fsync }],
    } = await client.query('show fsync');
    if (fsync !== 'on') throw new Error('this is no floor: nothing is on the disk');
    await client.query(tables);
    const inserts = await timed(rounds, (row) =>
      client.query('insert into kept values ($1, $2)', [row, `row ${String(row)}`]),
    );
    const claims = JSON.stringify({ role: 'postgres', iss: 'supabase' });
    const asRequest = await timed(rounds, async (row) => {
      await client.query('begin');
      await client.query({
        name: 'who',
        text: `select set_config('request.jwt.claims', $1, true), set_config('role', $2, true)`,
        values: [claims, 'none'],
      });
      await client.query({
        name: 'what',
        text: 'insert into kept select * from json_to_recordset($1) as t(id int, body text)',
        values: [JSON.stringify([{ id: rounds + row, body: `row ${String(row)}` }])],
      });
      await client.query('commit');
    });
    const reads = await timed(rounds, (row) =>
      client.query('select json_agg(t) from (select * from many where part = $1 limit 100) t', [row % 1000]),
    );
    return { inserts, asRequest, reads };
  } finally {
    await client.end();
  }
}

function mean(times: readonly number[]): number {
  return times.reduce((sum, time) => sum + time, 0) / times.length;
}

const millisOfTick = 10;

/** Returns the CPU time of a process and its ended children, in kernel ticks. */
function readCpuTicks(pid: number | string): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
}

function ticksOfGroup(pid: number): number {
  return listProcessGroup(pid).reduce((sum, each) => sum + readCpuTicks(each), 0);
}

function listProcessGroup(pid: number): readonly string[] {
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8')
    .trim()
    .split(' ');
  return [String(pid), ...children];
}

/** Returns the private memory of a process and its children in MB. */
function residentOfGroup(pid: number): number {
  return listProcessGroup(pid).reduce((sum, each) => {
    const rollup = readFileSync(`/proc/${each}/smaps_rollup`, 'utf8');
    return sum + Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) / 1024;
  }, 0);
}
