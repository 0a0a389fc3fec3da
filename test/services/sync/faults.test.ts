import * as causes from '#messages/sync-causes';
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
import { listEnginePids, lacksRclone, openSyncFixture, rclonePath, until, type SyncFixture } from './sync-fixture.ts';

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
    // The service continues to start the engine.
    await using fixture = await openSyncFixture({
      environment: { RCLONE_PATH: slow },
      clock: createFakeClock(Date.now()),
    });
    fixture.write({ 'from/a': '1' });
    const [srcFs, dstFs] = [`${fixture.folder}/from`, `${fixture.folder}/to`];
    const task = await fixture.api('POST', '/api/sync/tasks', {
      name: 'x',
      source: srcFs,
      destination: `${dstFs}2`,
      retries: 0,
    });
    const run = await fixture.api('POST', `/api/sync/tasks/${String(task.id)}/run`, {});
    const { body } = await fixture.call('sync/copy', { srcFs, dstFs, _async: true });
    await until(
      async () => existsSync(waiting),
      (isSo) => isSo,
    );
    await fixture.call('job/stop', { jobid: body.jobid });
    await fixture.api('POST', `/api/sync/jobs/${String(run.id)}/stop`);
    for (const jobid of [body.jobid, run.id]) {
      const ended = await until(
        () => fixture.call('job/status', { jobid }),
        (answer) => answer.body.finished === true,
      );
      expect(ended.body).toMatchObject({ success: false, error: 'context canceled' });
    }
    writeFileSync(gate, '');
    expect((await fixture.call('core/pid')).status).toBe(200);
    expect(readdirSync(fixture.folder)).toEqual(['from']);
  });

  it('aborts a call of an engine that does not respond', async () => {
    const clock = createFakeClock(Date.now());
    await using fixture = await openSyncFixture({ clock });
    fixture.write({ 'from/a': 'x'.repeat(5_000_000) });
    const task = await fixture.api('POST', '/api/sync/tasks', {
      name: 'x',
      source: `${fixture.folder}/from`,
      destination: `${fixture.folder}/to`,
      retries: 0,
    });
    await fixture.call('core/bwlimit', { rate: '100k' });
    const { id } = await fixture.api('POST', `/api/sync/tasks/${String(task.id)}/run`, {});
    await until(
      async () => existsSync(join(fixture.folder, 'to')) && readdirSync(join(fixture.folder, 'to')),
      (names) => names !== false && names.length > 0,
    );
    const [pid] = listEnginePids(fixture);
    process.kill(pid ?? 0, 'SIGSTOP');
    try {
      await fixture.api('POST', `/api/sync/jobs/${String(id)}/stop`);
      expect((await fixture.call('job/status', { jobid: id })).body.finished).toBe(false);
      clock.advance(10_000);
      const ended = await until(
        () => fixture.call('job/status', { jobid: id }),
        ({ body }) => body.finished === true,
      );
      expect(ended.body.error).toBe('context canceled');
    } finally {
      process.kill(pid ?? 0, 'SIGCONT');
    }
  });
});

describe('a response', () => {
  let fixture: SyncFixture;
  beforeAll(async () => {
    fixture = await openSyncFixture();
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  it('is 413 for an input that is too large, even if the client sends everything before it reads', async () => {
    const { hostname, port } = new URL(fixture.url);
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
    const dataChunk = Buffer.alloc(1024 * 1024, ' ');
    for (let index = 0; index < 64; index++) {
      socket.write(`${dataChunk.length.toString(16)}\r\n`);
      socket.write(dataChunk);
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
      Array.from({ length: 1000 }, (_, index) => [`many/a rather long name of a file ${String(index)}`, 'x']),
    );
    fixture.write(many);
    const input = { fs: `${fixture.folder}/many`, remote: '' };
    const waitingCall = await fixture.call('operations/list', input);
    expect(waitingCall.body.list).toHaveLength(1000);
    const status = (jobid: unknown) => fixture.call('job/status', { jobid });
    expect((await status(Number(waitingCall.headers.get('x-rclone-jobid')))).body).toMatchObject({ success: true });
    expect((await status(Number(waitingCall.headers.get('x-rclone-jobid')))).body.output).toEqual({});
    const { body } = await fixture.call('operations/list', { ...input, _async: true });
    const laterStatus = await until(
      () => status(body.jobid),
      (answer) => answer.body.finished === true,
    );
    expect(laterStatus.body.output.list).toHaveLength(1000);
    const small = await fixture.call('operations/size', { fs: input.fs });
    expect((await status(Number(small.headers.get('x-rclone-jobid')))).body.output).toEqual(small.body);
  });
});

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const ended = async (fixture: SyncFixture, id: number) =>
  (
    await until(
      () => fixture.api('GET', `/api/sync/jobs/${String(id)}`),
      ({ job }) => job.endedAt !== null,
      60_000,
    )
  ).job;
const run = async (fixture: SyncFixture, task: number) =>
  ended(fixture, (await fixture.api('POST', `/api/sync/tasks/${String(task)}/run`, {})).id);

describe.each([
  ['rclone', {}, lacksRclone],
  ['no rclone', { RCLONE_PATH: '/nowhere/rclone' }, false],
] as const)('with %s', (_name, environment, isLeftOut) => {
  it.skipIf(isLeftOut || !isRoot)(
    'fails a run on a full disk, deletes nothing, and the next run continues',
    async () => {
      await using fixture = await openSyncFixture({ environment });
      const disk = join(fixture.folder, 'disk');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk]);
      try {
        const big = Object.fromEntries(
          Array.from({ length: 6 }, (_, index) => [`from/${String(index)}`, String(index).repeat(1_000_000)]),
        );
        fixture.write({ ...big, 'disk/to/gone': 'x' });
        const task = await fixture.api('POST', '/api/sync/tasks', {
          name: 'x',
          mode: 'sync',
          source: `${fixture.folder}/from`,
          destination: `${disk}/to`,
          retries: 0,
        });
        const failed = await run(fixture, task.id);
        expect(failed).toMatchObject({ state: 'failed' });
        const { errors } = await fixture.api('GET', `/api/sync/jobs/${String(failed.id)}`);
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
        expect(await run(fixture, task.id)).toMatchObject({ state: 'done', totals: { deletes: 1 } });
        expect(readdirSync(join(disk, 'to')).toSorted()).toEqual(readdirSync(join(fixture.folder, 'from')).toSorted());
      } finally {
        execFileSync('umount', ['-l', disk]);
      }
    },
  );

  it.skipIf(isLeftOut)('counts the completed transfers', async () => {
    await using fixture = await openSyncFixture({ environment });
    fixture.write({ 'from/a': '1', 'from/b': '22', 'to/gone': 'x' });
    const task = await fixture.api('POST', '/api/sync/tasks', {
      name: 'x',
      mode: 'sync',
      source: `${fixture.folder}/from`,
      destination: `${fixture.folder}/to`,
      retries: 0,
    });
    expect(await run(fixture, task.id)).toMatchObject({ state: 'done' });
    rmSync(join(fixture.folder, 'from'), { recursive: true });
    expect(await run(fixture, task.id)).toMatchObject({ state: 'failed' });
    await fixture.call('rc/noop');
    await fixture.call('no/such');
    await fixture.call('core/quit');
    const page = await (
      await fetch(`${fixture.host.url('control')}/metrics`, { headers: { authorization: adminAuthorization } })
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
    // Metrics contain no names of files or folders.
    expect(page).not.toContain(fixture.folder);
  });
});

it.skipIf(lacksRclone)('fails a run with an unreachable remote on either side and deletes nothing', async () => {
  await using fixture = await openSyncFixture();
  fixture.write({ 'here/a': '1', 'there/kept': 'x' });
  await fixture.call('config/create', {
    name: 'away',
    type: 'webdav',
    parameters: { url: 'http://127.0.0.1:1', vendor: 'other' },
  });
  for (const [source, destination] of [
    [`${fixture.folder}/here`, 'away:x'],
    ['away:x', `${fixture.folder}/there`],
  ] as const) {
    const task = await fixture.api('POST', '/api/sync/tasks', {
      name: 'x',
      mode: 'sync',
      source,
      destination,
      maxDeletes: 100,
      maxDeletePercent: 100,
      retries: 1,
    });
    expect(await run(fixture, task.id)).toMatchObject({
      state: 'failed',
      error: causes.connectionRefused(),
      detail: expect.stringMatching(/connection refused/i) as string,
    });
    const { nextAt } = await until(
      () => fixture.api('GET', `/api/sync/tasks/${String(task.id)}`),
      (task) => task.nextAt !== null,
    );
    expect(nextAt).toBeGreaterThan(Date.now());
  }
  expect(readFileSync(join(fixture.folder, 'there/kept'), 'utf8')).toBe('x');
  expect(readFileSync(join(fixture.folder, 'here/a'), 'utf8')).toBe('1');
});
