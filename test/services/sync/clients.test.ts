import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/host.ts';
import { listEnginePids, lacksRclone, openSyncFixture, rclonePath, until, type SyncFixture } from './sync-fixture.ts';
import { needs } from '../../support/requirements.ts';

needs('curl');

async function run(
  program: string,
  args: readonly string[],
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], HOME: tmpdir(), RCLONE_CONFIG: '/notfound' },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  return await new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

describe.skipIf(lacksRclone)('file sync with the real client', () => {
  let fixture: SyncFixture;
  const rc = (...args: string[]) =>
    run(rclonePath ?? '', ['rc', '--url', fixture.url, '--user', admin.name, '--pass', admin.password, ...args]);

  beforeAll(async () => {
    fixture = await openSyncFixture();
    fixture.write({ 'src/a.txt': 'a', 'src/b/c.txt': 'c', 'away/x.txt': 'x' });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  it('syncs in the background and returns the job', async () => {
    const begun = await rc('sync/sync', `srcFs=${fixture.folder}/src`, `dstFs=${fixture.folder}/dst`, '_async=true');
    expect(begun.err).toBe('');
    const { jobid } = JSON.parse(begun.out) as { jobid: number };
    const status = await until(
      async () => JSON.parse((await rc('job/status', `jobid=${String(jobid)}`)).out) as Record<string, unknown>,
      ({ finished }) => finished === true,
    );
    expect(status).toMatchObject({ id: jobid, success: true, error: '', group: `job/${String(jobid)}` });
    expect(readFileSync(join(fixture.folder, 'dst/b/c.txt'), 'utf8')).toBe('c');
    const stats = JSON.parse((await rc('core/stats', `group=job/${String(jobid)}`)).out) as object;
    expect(stats).toMatchObject({ transfers: 2, bytes: 2, errors: 0 });
  });

  it('lists, reports its version, and fails like rclone', async () => {
    expect(JSON.parse((await rc('core/version')).out)).toMatchObject({
      version: expect.stringMatching(/^v1\./) as string,
    });
    const list = await rc('operations/list', `fs=${fixture.folder}/src`, 'remote=');
    expect((JSON.parse(list.out) as { list: { Path: string }[] }).list.map(({ Path }) => Path)).toEqual(['a.txt', 'b']);
    const failed = await rc('sync/sync', `srcFs=${fixture.folder}/nothing`, `dstFs=${fixture.folder}/dst`);
    expect(failed).toMatchObject({ code: 1 });
    expect(failed.out + failed.err).toContain('directory not found');
    expect(existsSync(join(fixture.folder, 'dst/a.txt'))).toBe(true);
    const commands = JSON.parse((await rc('rc/list')).out) as { commands: { Path: string }[] };
    const paths = commands.commands.map(({ Path }) => Path);
    expect(paths).toContain('sync/sync');
    expect(paths).not.toContain('core/command');
  });

  it('requires a sign-in and refuses other origins and host names', async () => {
    const wrong = await run(rclonePath ?? '', [
      'rc',
      '--url',
      fixture.url,
      '--user',
      admin.name,
      '--pass',
      'wrong',
      'rc/noop',
    ]);
    expect(wrong.code).toBe(1);
    const foreign = await fixture.call('rc/noop', {}, { headers: { origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
    const { port } = new URL(fixture.url);
    const rebound = await run('curl', [
      '-s',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      '-X',
      'POST',
      '-H',
      'Host: evil.example',
      '-u',
      `${admin.name}:${admin.password}`,
      `http://127.0.0.1:${port}/rc/noop`,
    ]);
    expect(rebound.out).toBe('403');
  });

  it('runs jobs that write to one location one after another, and stops them', async () => {
    writeFileSync(join(fixture.folder, 'src/big'), '');
    truncateSync(join(fixture.folder, 'src/big'), 100 * 1024 * 1024);
    const slow = { srcFs: `${fixture.folder}/src`, _async: true, _config: { BwLimit: '1M' } };
    const first = await fixture.call('sync/copy', { ...slow, dstFs: `${fixture.folder}/one` });
    // The same path in another spelling.
    const second = await fixture.call('sync/copy', { ...slow, dstFs: `:local:${fixture.folder}/one/below` });
    const stats = (id: number) => fixture.call('core/stats', { group: `job/${String(id)}` });
    await until(
      () => stats(first.body.jobid),
      ({ body }) => body.bytes > 0,
    );
    expect((await stats(second.body.jobid)).body.bytes).toBe(0);
    expect((await fixture.call('job/status', { jobid: second.body.jobid })).body.finished).toBe(false);
    await fixture.call('job/stop', { jobid: first.body.jobid });
    await until(
      () => stats(second.body.jobid),
      ({ body }) => body.bytes > 0,
    );
    await fixture.call('job/stopgroup', { group: `job/${String(second.body.jobid)}` });
    for (const { body } of [first, second]) {
      const ended = await until(
        () => fixture.call('job/status', { jobid: body.jobid }),
        (answer) => answer.body.finished === true,
      );
      expect(ended.body).toMatchObject({ success: false, error: 'context canceled' });
    }
  });

  it('survives the end of its engine during a job', async () => {
    const { body } = await fixture.call('sync/copy', {
      srcFs: `${fixture.folder}/src`,
      dstFs: `${fixture.folder}/two`,
      _async: true,
      _config: { BwLimit: '1M' },
    });
    await until(
      () => fixture.call('core/stats', { group: `job/${String(body.jobid)}` }),
      (answer) => answer.body.bytes > 0,
    );
    const [pid] = listEnginePids(fixture);
    process.kill(pid ?? 0, 'SIGKILL');
    const ended = await until(
      () => fixture.call('job/status', { jobid: body.jobid }),
      (answer) => answer.body.finished === true,
    );
    expect(ended.body).toMatchObject({ success: false, error: expect.stringContaining('rclone ended') as string });
    expect((await fixture.call('core/pid')).status).toBe(200);
  });
});

it.skipIf(lacksRclone)('stops an idle engine, and keeps job IDs and history across a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-sync-data-'));
  try {
    let id = 0;
    {
      await using fixture = await openSyncFixture({ dataDir, environment: { SYNC_IDLE_SECONDS: '1' } });
      fixture.write({ 'src/a.txt': 'a' });
      expect(listEnginePids(fixture)).toEqual([]);
      const { body } = await fixture.call('sync/copy', {
        srcFs: `${fixture.folder}/src`,
        dstFs: `${fixture.folder}/dst`,
        _async: true,
        _group: 'mine',
      });
      id = body.jobid;
      await until(
        async () => listEnginePids(fixture),
        (pids) => pids.length === 1,
      );
      await fixture.call('config/create', {
        name: 'far',
        type: 'webdav',
        parameters: { url: 'http://127.0.0.1:1', pass: 'open sesame' },
        opt: { obscure: true },
      });
      await fixture.call('core/bwlimit', { rate: '1M' });
      await until(
        async () => listEnginePids(fixture),
        (pids) => pids.length === 0,
      );
      // The settings remain, although the engine runs in a new process.
      expect((await fixture.call('core/bwlimit')).body.rate).toBe('1Mi');
    }
    await using fixture = await openSyncFixture({ dataDir });
    const status = await fixture.call('job/status', { jobid: id });
    expect(status.body).toMatchObject({ id, finished: true, success: true, group: 'mine' });
    expect((await fixture.call('core/stats', { group: 'mine' })).body).toMatchObject({ transfers: 1, bytes: 1 });
    expect(Number((await fixture.call('rc/noop')).headers.get('x-rclone-jobid'))).toBeGreaterThan(id);
    const dump = await fixture.call('config/dump');
    expect(dump.body).toEqual({ far: { type: 'webdav', url: 'http://127.0.0.1:1', pass: 'XXX' } });
    // The files on disk do not contain the secret.
    expect(readFileSync(join(dataDir, 'sync/rclone.conf'), 'utf8')).toContain('RCLONE_ENCRYPT_V0');
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
