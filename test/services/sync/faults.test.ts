import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { createFakeClock } from '../../support/clock.ts';
import { enginesOf, lacksRclone, openSyncRoom, rclonePath, until, type SyncRoom } from './sync-fixture.ts';

const scratch = mkdtempSync(join(tmpdir(), 'homeport-sync-faults-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe.skipIf(lacksRclone)('a stop', () => {
  it('stops a call and a sync task while the engine is still starting', async () => {
    const gate = join(scratch, 'gate');
    const waiting = join(scratch, 'waiting');
    const slow = join(scratch, 'rclone');
    const wait = `if [ "$1" = rcd ]; then touch '${waiting}'; while [ ! -e '${gate}' ]; do sleep 0.1; done; fi`;
    writeFileSync(slow, `#!/bin/sh\n${wait}\nexec '${rclonePath ?? ''}' "$@"\n`);
    chmodSync(slow, 0o755);
    // It never gives up starting.
    await using room = await openSyncRoom({ environment: { RCLONE_PATH: slow }, clock: createFakeClock(Date.now()) });
    room.write({ 'from/a': '1' });
    const [srcFs, dstFs] = [`${room.folder}/from`, `${room.folder}/to`];
    const task = await room.api('POST', '/api/sync/tasks', {
      name: 'x',
      source: srcFs,
      destination: `${dstFs}2`,
      retries: 0,
    });
    const run = await room.api('POST', `/api/sync/tasks/${String(task.id)}/run`, {});
    const { body } = await room.call('sync/copy', { srcFs, dstFs, _async: true });
    await until(
      async () => existsSync(waiting),
      (isSo) => isSo,
    );
    await room.call('job/stop', { jobid: body.jobid });
    await room.api('POST', `/api/sync/jobs/${String(run.id)}/stop`);
    for (const jobid of [body.jobid, run.id]) {
      const ended = await until(
        () => room.call('job/status', { jobid }),
        (answer) => answer.body.finished === true,
      );
      expect(ended.body).toMatchObject({ success: false, error: 'context canceled' });
    }
    writeFileSync(gate, '');
    expect((await room.call('core/pid')).status).toBe(200);
    expect(readdirSync(room.folder)).toEqual(['from']);
  });

  it('aborts a call of an engine that does not respond', async () => {
    const clock = createFakeClock(Date.now());
    await using room = await openSyncRoom({ clock });
    room.write({ 'from/a': 'x'.repeat(5_000_000) });
    const task = await room.api('POST', '/api/sync/tasks', {
      name: 'x',
      source: `${room.folder}/from`,
      destination: `${room.folder}/to`,
      retries: 0,
    });
    await room.call('core/bwlimit', { rate: '100k' });
    const { id } = await room.api('POST', `/api/sync/tasks/${String(task.id)}/run`, {});
    await until(
      async () => existsSync(join(room.folder, 'to')) && readdirSync(join(room.folder, 'to')),
      (names) => names !== false && names.length > 0,
    );
    const [pid] = enginesOf(room);
    process.kill(pid ?? 0, 'SIGSTOP');
    try {
      await room.api('POST', `/api/sync/jobs/${String(id)}/stop`);
      expect((await room.call('job/status', { jobid: id })).body.finished).toBe(false);
      clock.advance(10_000);
      const ended = await until(
        () => room.call('job/status', { jobid: id }),
        ({ body }) => body.finished === true,
      );
      expect(ended.body.error).toBe('context canceled');
    } finally {
      process.kill(pid ?? 0, 'SIGCONT');
    }
  });
});

describe('a response', () => {
  let room: SyncRoom;
  beforeAll(async () => {
    room = await openSyncRoom();
  });
  afterAll(() => room[Symbol.asyncDispose]());

  it('is 413 for an input that is too large, even if the client sends everything before it reads', async () => {
    const { hostname, port } = new URL(room.url);
    const socket = connect(Number(port), hostname);
    const head = [
      'POST /rc/noop HTTP/1.1',
      `Host: ${hostname}:${port}`,
      `Authorization: ${adminAuthorization}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ];
    socket.pause();
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const piece = Buffer.alloc(1024 * 1024, ' ');
    for (let at = 0; at < 64; at++) {
      socket.write(`${piece.length.toString(16)}\r\n`);
      socket.write(piece);
      if (!socket.write('\r\n')) await once(socket, 'drain');
    }
    socket.write('2\r\n{}\r\n0\r\n\r\n');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString())).resume();
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toEqual({
      error: 'the input is too large',
      input: {},
      path: 'rc/noop',
      status: 413,
    });
  });

  it.skipIf(lacksRclone)('is cached for asynchronous calls, and not stored twice if it is large', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [`many/a rather long name of a file ${String(at)}`, 'x']),
    );
    room.write(many);
    const input = { fs: `${room.folder}/many`, remote: '' };
    const waited = await room.call('operations/list', input);
    expect(waited.body.list).toHaveLength(1000);
    const status = (jobid: unknown) => room.call('job/status', { jobid });
    expect((await status(Number(waited.headers.get('x-rclone-jobid')))).body).toMatchObject({ success: true });
    expect((await status(Number(waited.headers.get('x-rclone-jobid')))).body.output).toEqual({});
    const { body } = await room.call('operations/list', { ...input, _async: true });
    const later = await until(
      () => status(body.jobid),
      (answer) => answer.body.finished === true,
    );
    expect(later.body.output.list).toHaveLength(1000);
    const small = await room.call('operations/size', { fs: input.fs });
    expect((await status(Number(small.headers.get('x-rclone-jobid')))).body.output).toEqual(small.body);
  });
});

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const ended = async (room: SyncRoom, id: number) =>
  (
    await until(
      () => room.api('GET', `/api/sync/jobs/${String(id)}`),
      ({ job }) => job.endedAt !== null,
      60_000,
    )
  ).job;
const run = async (room: SyncRoom, task: number) =>
  ended(room, (await room.api('POST', `/api/sync/tasks/${String(task)}/run`, {})).id);

describe.each([
  ['rclone', {}, lacksRclone],
  ['no rclone', { RCLONE_PATH: '/nowhere/rclone' }, false],
] as const)('with %s', (_name, environment, isLeftOut) => {
  it.skipIf(isLeftOut || !isRoot)(
    'fails a run on a full disk, deletes nothing, and the next run continues',
    async () => {
      await using room = await openSyncRoom({ environment });
      const disk = join(room.folder, 'disk');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk]);
      try {
        const big = Object.fromEntries(
          Array.from({ length: 6 }, (_, at) => [`from/${String(at)}`, String(at).repeat(1_000_000)]),
        );
        room.write({ ...big, 'disk/to/gone': 'x' });
        const task = await room.api('POST', '/api/sync/tasks', {
          name: 'x',
          mode: 'sync',
          source: `${room.folder}/from`,
          destination: `${disk}/to`,
          retries: 0,
        });
        const failed = await run(room, task.id);
        expect(failed).toMatchObject({ state: 'failed' });
        const { errors } = await room.api('GET', `/api/sync/jobs/${String(failed.id)}`);
        expect(
          errors.some(({ detail }: { detail: string }) => /no space left|remaining disk space/i.test(detail)),
          JSON.stringify(errors),
        ).toBe(true);
        const after = readdirSync(join(disk, 'to'));
        expect(after).toContain('gone');
        for (const name of after.filter((one) => one !== 'gone')) {
          expect(readFileSync(join(disk, 'to', name), 'utf8')).toBe(big[`from/${name}`]);
        }
        execFileSync('mount', ['-o', 'remount,size=16m', disk]);
        expect(await run(room, task.id)).toMatchObject({ state: 'done', totals: { deletes: 1 } });
        expect(readdirSync(join(disk, 'to')).toSorted()).toEqual(readdirSync(join(room.folder, 'from')).toSorted());
      } finally {
        execFileSync('umount', ['-l', disk]);
      }
    },
  );

  it.skipIf(isLeftOut)('counts the completed transfers', async () => {
    await using room = await openSyncRoom({ environment });
    room.write({ 'from/a': '1', 'from/b': '22', 'to/gone': 'x' });
    const task = await room.api('POST', '/api/sync/tasks', {
      name: 'x',
      mode: 'sync',
      source: `${room.folder}/from`,
      destination: `${room.folder}/to`,
      retries: 0,
    });
    expect(await run(room, task.id)).toMatchObject({ state: 'done' });
    rmSync(join(room.folder, 'from'), { recursive: true });
    expect(await run(room, task.id)).toMatchObject({ state: 'failed' });
    await room.call('rc/noop');
    await room.call('no/such');
    await room.call('core/quit');
    const page = await (
      await fetch(`${room.host.url('control')}/metrics`, { headers: { authorization: adminAuthorization } })
    ).text();
    const lines = page
      .replace(/service="sync",?/g, '')
      .replaceAll('{}', '')
      .split('\n');
    const value = (name: string): number => Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
    const counted = {
      'sync_jobs_total{state="done"}': 1,
      'sync_jobs_total{state="failed"}': 1,
      'sync_jobs_total{state="held"}': 0,
      sync_transferred_files_total: 2,
      sync_transferred_bytes_total: 3,
      sync_deleted_files_total: 1,
      sync_jobs_running: 0,
      sync_job_duration_seconds_count: 2,
      'sync_calls_total{result="ok"}': 1,
      'sync_calls_total{result="failed"}': 1,
      'sync_calls_total{result="refused"}': 1,
    };
    expect(Object.fromEntries(Object.keys(counted).map((name) => [name, value(name)]))).toEqual(counted);
    expect(value('sync_engine_up')).toBe(Object.keys(environment).length === 0 ? 1 : 0);
    // Names of files and places are on no page of metrics.
    expect(page).not.toContain(room.folder);
  });
});

it.skipIf(lacksRclone)('fails a run with an unreachable remote on either side and deletes nothing', async () => {
  await using room = await openSyncRoom();
  room.write({ 'here/a': '1', 'there/kept': 'x' });
  await room.call('config/create', {
    name: 'away',
    type: 'webdav',
    parameters: { url: 'http://127.0.0.1:1', vendor: 'other' },
  });
  for (const [source, destination] of [
    [`${room.folder}/here`, 'away:x'],
    ['away:x', `${room.folder}/there`],
  ] as const) {
    const task = await room.api('POST', '/api/sync/tasks', {
      name: 'x',
      mode: 'sync',
      source,
      destination,
      maxDeletes: 100,
      maxDeletePercent: 100,
      retries: 1,
    });
    expect(await run(room, task.id)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('nothing answers at its address') as string,
      detail: expect.stringMatching(/connection refused/i) as string,
    });
    const { nextAt } = await until(
      () => room.api('GET', `/api/sync/tasks/${String(task.id)}`),
      (found) => found.nextAt !== null,
    );
    expect(nextAt).toBeGreaterThan(Date.now());
  }
  expect(readFileSync(join(room.folder, 'there/kept'), 'utf8')).toBe('x');
  expect(readFileSync(join(room.folder, 'here/a'), 'utf8')).toBe('1');
});
