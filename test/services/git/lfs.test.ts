import * as gitProblems from '#messages/git-problems';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { startHostProcess, type HostProcess } from '../../support/host-process.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { makeKey } from './ssh-key.ts';
import { needs } from '../../support/requirements.ts';

needs('git-lfs');

const lfsType = 'application/vnd.git-lfs+json';
let fixture: GitFixture;
/** Git configuration that `git lfs install` writes. */
const filter = {
  GIT_CONFIG_COUNT: '4',
  GIT_CONFIG_KEY_0: 'filter.lfs.clean',
  GIT_CONFIG_VALUE_0: 'git-lfs clean -- %f',
  GIT_CONFIG_KEY_1: 'filter.lfs.smudge',
  GIT_CONFIG_VALUE_1: 'git-lfs smudge -- %f',
  GIT_CONFIG_KEY_2: 'filter.lfs.process',
  GIT_CONFIG_VALUE_2: 'git-lfs filter-process',
  GIT_CONFIG_KEY_3: 'filter.lfs.required',
  GIT_CONFIG_VALUE_3: 'true',
};

beforeAll(async () => {
  fixture = await openGitFixture({ environment: { GIT_LFS_QUOTA_MB: '24' } });
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Creates a working copy whose file `big.bin` is stored by Git LFS. */
async function largeWork(name: string, bytes: Buffer, remote: string, environment: Record<string, string> = {}) {
  const cwd = await fixture.work(name);
  const lfs = { cwd, environment: { ...filter, ...environment } };
  await fixture.git(['lfs', 'install', '--local'], lfs);
  await fixture.git(['lfs', 'track', '*.bin'], lfs);
  writeFileSync(join(cwd, 'big.bin'), bytes);
  await fixture.git(['add', '.'], lfs);
  await fixture.git(['commit', '-qm', 'large'], lfs);
  await fixture.git(['remote', 'add', 'origin', remote], lfs);
  return lfs;
}

const hashContent = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
const sendRequest = (path: string, init: RequestInit = {}) =>
  fetch(`${fixture.url}${path}`, {
    ...init,
    headers: { authorization: adminAuthorization, accept: lfsType, 'content-type': lfsType, ...init.headers },
  });
const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
  const reply = await sendRequest(path, { method: 'POST', body: JSON.stringify(body), headers });
  return { status: reply.status, body: await reply.json() };
};
const incoming = (dataDir = fixture.host.dataDir): readonly string[] => {
  const folder = join(dataDir, 'git', 'lfs', '.incoming');
  return existsSync(folder) ? readdirSync(folder) : [];
};

describe('Git LFS', () => {
  it('stores and returns objects of git-lfs over HTTP', async () => {
    await fixture.create('large');
    const bytes = randomBytes(5 * 1024 * 1024);
    const lfs = await largeWork('large', bytes, `${fixture.signedUrl}/ada/large.git`);
    await fixture.git(['push', '-q', 'origin', 'main'], lfs);
    await fixture.git(['clone', '-q', `${fixture.url}/ada/large.git`, 'large-copy'], { environment: filter });
    expect(readFileSync(join(fixture.folder, 'large-copy', 'big.bin')).equals(bytes)).toBe(true);
    expect(await (await fixture.api('GET', '/repos/ada/large/raw/big.bin')).text()).toContain(
      `oid sha256:${hashContent(bytes)}`,
    );
    const media = await fixture.api('GET', '/repos/ada/large/media/big.bin');
    expect(Buffer.from(await media.arrayBuffer()).equals(bytes)).toBe(true);
    const path = `/ada/large.git/info/lfs/objects/${hashContent(bytes)}`;
    const part = await sendRequest(path, { headers: { range: 'bytes=5242870-' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 5242870-5242879/5242880']);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(-10))).toBe(true);
    expect((await sendRequest(path, { headers: { range: 'bytes=9999999-' } })).status).toBe(416);
    await expect.poll(() => incoming()).toEqual([]);
  });

  it.each([
    ['truncated', (bytes: Buffer) => bytes.subarray(0, 100)],
    ['different', (bytes: Buffer) => Buffer.alloc(bytes.length, 'x')],
  ])('repairs a %s object when it is pushed again', async (kind, damage) => {
    const name = `damaged-${kind}`;
    await fixture.create(name);
    const bytes = randomBytes(200_000);
    const lfs = await largeWork(name, bytes, `${fixture.signedUrl}/ada/${name}.git`);
    await fixture.git(['push', '-q', 'origin', 'main'], lfs);
    const oid = hashContent(bytes);
    const folder = join(fixture.host.dataDir, 'git', 'lfs', 'objects');
    const file = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith(oid)) ?? '';
    writeFileSync(join(folder, file), damage(bytes));
    const download = () => sendRequest(`/ada/${name}.git/info/lfs/objects/${oid}`).then((reply) => reply.arrayBuffer());
    await expect(download()).rejects.toThrow();
    const upload = () => fixture.git(['lfs', 'push', '--all', 'origin'], lfs);
    await vi.waitFor(
      async () => {
        await upload();
        expect(Buffer.from(await download()).equals(bytes)).toBe(true);
      },
      { timeout: 15_000, interval: 100 },
    );
    const objects = [{ oid, size: bytes.length }];
    const again = await post(`/ada/${name}.git/info/lfs/objects/batch`, { operation: 'upload', objects });
    expect(again.body.objects).toEqual(objects);
  });

  it('stores objects over SSH with the token of git-lfs-authenticate', async () => {
    const { ssh_url } = await fixture.create('by-ssh', { private: true });
    const ssh = await makeKey(fixture, 'id_lfs');
    expect((await fixture.api('POST', '/user/keys', { title: 'k', key: ssh.text })).status).toBe(201);
    const bytes = randomBytes(100_000);
    const environment = { GIT_SSH_COMMAND: ssh.command };
    const lfs = await largeWork('by-ssh', bytes, String(ssh_url), environment);
    await fixture.git(['push', '-q', 'origin', 'main'], lfs);
    await fixture.git(['clone', '-q', String(ssh_url), 'ssh-copy'], { environment: { ...filter, ...environment } });
    expect(readFileSync(join(fixture.folder, 'ssh-copy', 'big.bin')).equals(bytes)).toBe(true);
    // A token for downloads is not valid for uploads.
    const { hostname, port } = new URL(String(ssh_url));
    const [program = '', ...args] = ssh.command.split(' ');
    const { stdout } = await fixture.run(program, [
      ...args,
      '-p',
      port,
      `git@${hostname}`,
      'git-lfs-authenticate ada/by-ssh.git download',
    ]);
    const ticket = JSON.parse(stdout) as { href: string; header: { Authorization: string } };
    const pathname = new URL(ticket.href).pathname;
    const objects = [{ oid: hashContent(bytes), size: bytes.length }];
    const headers = { authorization: ticket.header.Authorization };
    expect(
      (await post(`${pathname}/objects/batch`, { operation: 'download', objects }, headers)).body.objects[0].actions
        .download,
    ).toBeDefined();
    expect((await post(`${pathname}/objects/batch`, { operation: 'upload', objects }, headers)).status).toBe(403);
    const forged = { authorization: `${ticket.header.Authorization.slice(0, -4)}AAAA` };
    expect((await post(`${pathname}/objects/batch`, { operation: 'download', objects }, forged)).status).toBe(401);
  });

  it('locks files so that git-lfs rejects pushes of other accounts', async () => {
    await fixture.create('locked');
    const bob = await fixture.account('bob', [{ service: 'git', resource: 'ada/locked', permission: 'write' }]);
    const lfs = await largeWork('locked', randomBytes(1000), `${fixture.signedUrl}/ada/locked.git`);
    await fixture.git(['push', '-q', 'origin', 'main'], lfs);
    await fixture.git(['lfs', 'lock', 'big.bin'], lfs);
    expect((await fixture.git(['lfs', 'locks'], lfs)).stdout).toContain('big.bin\tada');
    const bobUrl = fixture.url.replace('://', `://bob:${encodeURIComponent('a long password of bob')}@`);
    writeFileSync(join(lfs.cwd, 'big.bin'), randomBytes(1000));
    await fixture.git(['commit', '-qam', 'over it'], lfs);
    const refused = await fixture.git(['-c', 'lfs.locksverify=true', 'push', `${bobUrl}/ada/locked.git`, 'main'], {
      ...lfs,
      mayFail: true,
    });
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toContain('big.bin - ada');
    const [lock] = ((await (await sendRequest('/ada/locked/info/lfs/locks')).json()) as { locks: { id: string }[] })
      .locks;
    const unlock = `/ada/locked/info/lfs/locks/${lock?.id}/unlock`;
    expect((await post(unlock, {}, { authorization: bob })).status).toBe(403);
    expect((await post(unlock, { force: true }, { authorization: bob })).body.lock.path).toBe('big.bin');
    expect((await post('/ada/locked/info/lfs/locks/999/unlock', {})).status).toBe(404);
    await fixture.git(['push', '-q', `${bobUrl}/ada/locked.git`, 'main'], lfs);
    for (let index = 0; index < 3; index += 1) await post('/ada/locked/info/lfs/locks', { path: `f${index}` });
    const first = (await (await sendRequest('/ada/locked/info/lfs/locks?limit=2')).json()) as {
      locks: unknown[];
      next_cursor: string;
    };
    const rest = (await (
      await sendRequest(`/ada/locked/info/lfs/locks?limit=2&cursor=${first.next_cursor}`)
    ).json()) as {
      locks: unknown[];
    };
    expect([first.locks.length, rest.locks.length]).toEqual([2, 1]);
    expect((await post('/ada/locked/info/lfs/locks', { path: '../x' })).status).toBe(422);
  });

  it('reports an exceeded quota, and git-lfs shows the message', async () => {
    await fixture.create('full');
    const lfs = await largeWork('full', Buffer.alloc(25 * 1024 * 1024, 7), `${fixture.signedUrl}/ada/full.git`);
    const { code, stderr } = await fixture.git(['push', 'origin', 'main'], { ...lfs, mayFail: true });
    expect(code).not.toBe(0);
    expect(stderr).toContain(gitProblems.lfsQuotaExceeded({ limit: '24 MiB' }));
    await expect.poll(() => incoming()).toEqual([]);
  });

  const put = async (where: string, body: Uint8Array<ArrayBuffer>) =>
    (await sendRequest(where, { method: 'PUT', body })).status;

  it('stores nothing of an aborted upload', async () => {
    await fixture.create('half');
    const bytes = randomBytes(4 * 1024 * 1024);
    const path = `/ada/half.git/info/lfs/objects/${hashContent(bytes)}/${bytes.length}`;
    const upload = httpRequest(`${fixture.url}${path}`, {
      method: 'PUT',
      headers: { authorization: adminAuthorization },
    });
    upload.on('error', () => undefined);
    upload.write(bytes.subarray(0, 1024 * 1024));
    await vi.waitFor(() => expect(incoming().length).toBe(1), { timeout: 10_000 });
    upload.destroy();
    await new Promise((resolve) => upload.once('close', resolve));
    await vi.waitFor(() => expect(incoming()).toEqual([]), { timeout: 10_000 });
    const download = { operation: 'download', objects: [{ oid: hashContent(bytes), size: bytes.length }] };
    expect((await post('/ada/half/info/lfs/objects/batch', download)).body.objects[0].error.code).toBe(404);
  });

  it('stores nothing of oversized, incomplete or mismatching uploads', async () => {
    await fixture.create('wrong');
    const bytes = randomBytes(4096);
    const objects = '/ada/wrong.git/info/lfs/objects';
    const path = `${objects}/${hashContent(bytes)}/${bytes.length}`;
    expect(await put(path, new Uint8Array(bytes.length))).toBe(422);
    expect(await put(path, Uint8Array.from(bytes.subarray(1)))).toBe(422);
    expect(await put(`${objects}/${hashContent('x')}/1`, new TextEncoder().encode('x and more'))).toBe(422);
    for (const invalid of ['..%2f..%2fdb.sqlite', 'A'.repeat(64), '../../../db.sqlite']) {
      expect([400, 404, 422]).toContain(await put(`${objects}/${invalid}/1`, new Uint8Array(1)));
    }
    const download = { operation: 'download', objects: [{ oid: hashContent(bytes), size: bytes.length }] };
    expect((await post('/ada/wrong/info/lfs/objects/batch', download)).body.objects[0].error.code).toBe(404);
    await expect.poll(() => incoming()).toEqual([]);
  });

  it('verifies the size of a stored object, and deletes objects with their repository', async () => {
    await fixture.create('stored');
    const bytes = randomBytes(4096);
    const path = `/ada/stored.git/info/lfs/objects/${hashContent(bytes)}/${bytes.length}`;
    expect(await put(path, Uint8Array.from(bytes))).toBe(200);
    expect((await post('/ada/stored/info/lfs/verify', { oid: hashContent(bytes), size: 1 })).status).toBe(422);
    const objects = join(fixture.host.dataDir, 'git', 'lfs', 'objects');
    const count = () => readdirSync(objects).flatMap((part) => readdirSync(join(objects, part))).length;
    const before = count();
    expect((await fixture.api('DELETE', '/repos/ada/stored')).status).toBe(204);
    expect(count()).toBe(before - 1);
    expect(existsSync(objects)).toBe(true);
  });

  it('is hidden from callers without read access to the repository', async () => {
    await fixture.create('hidden', { private: true });
    const eve = await fixture.account('eve');
    const batch = { operation: 'download', objects: [] };
    const path = '/ada/hidden/info/lfs/objects/batch';
    expect((await post(path, batch, { authorization: eve })).status).toBe(404);
    expect((await post('/ada/none/info/lfs/objects/batch', batch, { authorization: eve })).status).toBe(404);
    for (const name of ['hidden', 'none']) {
      const reply = await fetch(`${fixture.url}/ada/${name}/info/lfs/objects/batch`, {
        method: 'POST',
        body: JSON.stringify(batch),
      });
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="gitea-lfs"']);
    }
  });
});

describe('an upload of a large file while the host is killed', () => {
  it('leaves no partial files and keeps acknowledged objects', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-lfs-data-'));
    const environment = Object.fromEntries(
      ['DOWNLOADS', 'NOTIFY', 'PUSH', 'MAIL', 'INBOX'].map((id) => [`HOMEPORT_ENABLED_${id}`, 'false']),
    );
    let host: HostProcess | undefined;
    try {
      host = await startHostProcess(dataDir, { environment });
      const send = (path: string, init: RequestInit) =>
        fetch(`${host?.url('git') ?? ''}${path}`, { ...init, headers: { authorization: adminAuthorization } });
      await send('/api/v1/user/repos', { method: 'POST', body: '{"name":"demo"}' });
      const content = randomBytes(1000);
      const path = (bytes: Uint8Array) => `/ada/demo/info/lfs/objects/${hashContent(bytes)}`;
      expect((await send(`${path(content)}/1000`, { method: 'PUT', body: Uint8Array.from(content) })).status).toBe(200);
      const big = randomBytes(2 * 1024 * 1024);
      const url = `${host.url('git')}${path(big)}/${big.length}`;
      const upload = httpRequest(url, { method: 'PUT', headers: { authorization: adminAuthorization } });
      upload.on('error', () => undefined);
      upload.write(big.subarray(0, 1024 * 1024));
      await vi.waitFor(() => expect(incoming(dataDir)).toHaveLength(1), { timeout: 20_000 });
      await host.kill();
      upload.destroy();
      host = await startHostProcess(dataDir, { environment });
      expect(incoming(dataDir)).toEqual([]);
      expect((await send(path(big), {})).status).toBe(404);
      expect(Buffer.from(await (await send(path(content), {})).arrayBuffer()).equals(content)).toBe(true);
      expect((await send(`${path(big)}/${big.length}`, { method: 'PUT', body: Uint8Array.from(big) })).status).toBe(
        200,
      );
    } finally {
      await host?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
