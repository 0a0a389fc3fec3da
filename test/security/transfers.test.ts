import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { downloads } from '../../services/downloads/index.ts';
import { sync } from '../../services/sync/index.ts';
import { sessionHeader } from '../../services/contracts/session.ts';
import { accessPassword, openAccessHost, type AccessHost } from '../support/access.ts';

let host: AccessHost;
let folder: string;
let saved: number;
let job: number;

beforeAll(async () => {
  host = await openAccessHost(
    {
      reader: [{ service: 'downloads', resource: '*', permission: 'read' }],
      writer: [{ service: 'downloads', resource: '*', permission: 'read-write' }],
      // The permitted folders are set after the data folder is known.
      mover: [],
      other: [],
      everywhere: [{ service: 'sync', resource: '*', permission: 'read-write' }],
    },
    { services: [control, downloads, sync] },
  );
  folder = join(host.rig.dataDir, 'trees');
  for (const name of ['in', 'out', 'closed']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'in', 'a'), '1');
  writeFileSync(join(folder, 'closed', 'secret'), 'hidden');
  symlinkSync(join(folder, 'closed'), join(folder, 'in', 'link'));
  const grants = ['in/*', 'out/*', 'in', 'out'].map((name) => ({
    ...{ service: 'sync', resource: `${folder}/${name}` },
    permission: 'read-write',
  }));
  for (const name of ['mover', 'other'])
    await host.call('admin', 'control', 'PATCH', `/api/accounts/${name}`, { grants });
  const task = { name: 'x', source: `${folder}/in`, destination: `${folder}/out`, exclude: ['link'] };
  const reply = await host.call('mover', 'control', 'POST', '/api/sync/tasks', task);
  saved = ((await reply.json()) as { id: number }).id;
  const run = await host.call('mover', 'control', 'POST', `/api/sync/tasks/${String(saved)}/run`, {});
  job = ((await run.json()) as { id: number }).id;
});
afterAll(() => host[Symbol.asyncDispose]());

describe('access to downloads by the pages’ API', () => {
  const cookies = '# Netscape HTTP Cookie File\n';
  it.each([
    ['queue', 'GET', '/api/downloads', undefined, 200],
    ['statistics', 'GET', '/api/downloads/statistics', undefined, 200],
    ['limits', 'GET', '/api/downloads/limits', undefined, 200],
    ['subscriptions', 'GET', '/api/downloads/subscriptions', undefined, 200],
    ['whether there are cookies', 'GET', '/api/downloads/cookies', undefined, 200],
    ['a download', 'POST', '/api/downloads', { url: 'http://192.0.2.1/x' }, 403],
    ['its removal', 'POST', '/api/downloads/remove', { uids: ['x'] }, 403],
    ['a retry', 'POST', '/api/downloads/retry', { uids: ['x'] }, 403],
    ['the pause', 'POST', '/api/downloads/pause', {}, 403],
    ['a preview', 'POST', '/api/downloads/preview', { url: 'http://192.0.2.1/x' }, 403],
    ['a subscription', 'POST', '/api/downloads/subscriptions', { url: 'http://192.0.2.1/x' }, 403],
    ['cookies', 'PUT', '/api/downloads/cookies', { text: cookies }, 403],
    ['their removal', 'DELETE', '/api/downloads/cookies', undefined, 403],
  ] as const)('permits readers only to read: %s', async (_, method, path, body, status) => {
    expect((await host.call('reader', 'control', method, path, body)).status).toBe(status);
    for (const account of ['nogrant', 'mover'] as const) {
      expect((await host.call(account, 'control', method, path, body)).status).toBe(403);
    }
    expect((await host.call('anonymous', 'control', method, path, body)).status).toBe(401);
  });
});

describe('access to syncs by object', () => {
  it.each([
    ['GET', 'tasks', ''],
    ['POST', 'tasks', '/run'],
    ['POST', 'tasks', '/pause'],
    ['DELETE', 'tasks', ''],
    ['GET', 'jobs', ''],
    ['POST', 'jobs', '/stop'],
    ['POST', 'jobs', '/undo'],
  ] as const)('hides objects of another account: %s %s%s', async (method, kind, action) => {
    const objectPath = `/api/sync/${kind}/${String(kind === 'tasks' ? saved : job)}`;
    const body = method === 'POST' ? {} : undefined;
    for (const account of ['other', 'reader'] as const) {
      expect((await host.call(account, 'control', method, objectPath + action, body)).status).toBe(404);
    }
    expect((await host.call('mover', 'control', 'GET', objectPath)).status).toBe(200);
  });

  it.each(['job/status', 'job/stop'])('hides the jobs of another account from %s', async (call) => {
    const reply = await host.call('other', 'sync', 'POST', `/${call}`, { jobid: job });
    expect([reply.status, await reply.text()]).toEqual([500, expect.stringContaining('job not found')]);
  });

  it.each(['GET', 'POST'])('keeps remotes for administrators: %s', async (method) => {
    const body = method === 'POST' ? { name: 'x', type: 'local', values: {} } : undefined;
    expect((await host.call('mover', 'control', method, '/api/sync/remotes', body)).status).toBe(403);
  });

  it.each([
    ['operations/list', (): object => ({ fs: `${folder}/closed`, remote: '' })],
    ['operations/list', (): object => ({ fs: `${folder}/in`, remote: '../closed' })],
    ['operations/list', (): object => ({ fs: `${folder}/in/link`, remote: '' })],
    ['operations/list', (): object => ({ fs: `${folder}/in/../closed`, remote: '' })],
    ['operations/list', (): object => ({ fs: `:local:${folder}/closed`, remote: '' })],
    ['operations/list', (): object => ({ fs: { type: 'local', _root: `${folder}/closed` }, remote: '' })],
    ['sync/copy', (): object => ({ srcFs: `${folder}/closed`, dstFs: `${folder}/out` })],
    ['sync/copy', (): object => ({ srcFs: `${folder}/in`, dstFs: `${folder}/closed` })],
    ['operations/purge', (): object => ({ fs: `${folder}/out`, remote: '../closed' })],
    ['operations/deletefile', (): object => ({ fs: `${folder}/closed`, remote: 'secret' })],
    ['config/dump', (): object => ({})],
    ['core/bwlimit', (): object => ({ rate: '1k' })],
    ['options/set', (): object => ({ main: { BwLimit: '1k' } })],
  ])('refuses %s outside the grants', async (call, input) => {
    expect((await host.call('mover', 'sync', 'POST', `/${call}`, input())).status).toBe(403);
  });
});

describe('Homeport’s own data and running programs', () => {
  const data = (): string => host.rig.dataDir;
  beforeAll(() => symlinkSync(data(), `${data()}-link`));
  afterAll(() => rmSync(`${data()}-link`));
  const refused: readonly (readonly [call: string, input: () => object])[] = [
    ['operations/list', () => ({ fs: data(), remote: '' })],
    ['operations/list', () => ({ fs: dirname(data()), remote: '' })],
    ['operations/list', () => ({ fs: dirname(data()), remote: basename(data()) })],
    ['operations/list', () => ({ fs: `${data()}-link`, remote: '' })],
    ['operations/stat', () => ({ fs: data(), remote: 'vault.key' })],
    ['operations/copyfile', () => ({ ...{ srcFs: data(), srcRemote: 'vault.key' }, dstFs: folder, dstRemote: 'x' })],
    ['operations/copyfile', () => ({ srcFs: '/', srcRemote: `${data()}/vault.key`, dstFs: folder, dstRemote: 'x' })],
    ['operations/deletefile', () => ({ fs: data(), remote: 'homeport.yaml' })],
    ['operations/mkdir', () => ({ fs: join(data(), 'control'), remote: 'x' })],
    ['sync/copy', () => ({ srcFs: `${data()}-link`, dstFs: join(tmpdir(), 'x') })],
    ['sync/copy', () => ({ srcFs: join(data(), 'control'), dstFs: join(tmpdir(), 'x') })],
    ['sync/copy', () => ({ srcFs: join(tmpdir(), 'missing'), dstFs: join(data(), 'control') })],
    ...(process.platform === 'linux' ? ([['operations/list', () => ({ fs: '/proc/self', remote: '' })]] as const) : []),
  ];

  it.each(refused)('cannot be reached with a grant on all locations: %s', async (call, input) => {
    expect((await host.call('everywhere', 'sync', 'POST', `/${call}`, input())).status).toBe(403);
  });

  it('cannot be reached by the app API, other than other folders', async () => {
    const browse = (path: string): Promise<Response> =>
      host.call('everywhere', 'control', 'GET', `/api/sync/files?at=${encodeURIComponent(path)}`);
    expect((await browse(data())).status).toBe(403);
    expect((await browse(`${data()}-link/control`)).status).toBe(403);
    expect((await browse(dirname(data()))).status).toBe(200);
    const task = { name: 'x', source: join(data(), 'control'), destination: join(tmpdir(), 'x') };
    expect((await host.call('everywhere', 'control', 'POST', '/api/sync/tasks', task)).status).toBe(403);
    const other = mkdtempSync(join(tmpdir(), 'homeport-other-'));
    expect((await browse(other)).status).toBe(200);
    rmSync(other, { recursive: true });
  });
});

describe('files of downloads', () => {
  it.each([
    '/download/../../host/db.sqlite',
    '/download/..%2f..%2fhost%2fdb.sqlite',
    '/download/%2e%2e/%2e%2e/vault.key',
    '/download/..%5c..%5cvault.key',
    '/download//etc/passwd',
    '/audio_download/../vault.key',
    '/download/%00',
  ])('are not reached by %s', async (path) => {
    const status = (await host.call('anonymous', 'downloads', 'GET', path)).status;
    expect([400, 403, 404]).toContain(status);
  });
});

describe('a link to a file of the app API', () => {
  const file = '/api/downloads/none/file';
  const base = (): string => host.rig.url('control');

  async function signIn(name: string): Promise<Record<string, string>> {
    const reply = await host.call('anonymous', 'control', 'POST', '/api/session', { name, password: accessPassword });
    const { session } = (await reply.json()) as { readonly session: string };
    return { [sessionHeader]: session, 'Content-Type': 'application/json' };
  }

  async function link(headers: Record<string, string>, path: string): Promise<string> {
    const reply = await fetch(`${base()}/api/links`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ paths: [path] }),
    });
    return ((await reply.json()) as { readonly links: readonly [string] }).links[0];
  }

  const follow = async (address: string, method = 'GET'): Promise<number> =>
    (await fetch(base() + address, { method })).status;

  it('reads with the current permissions of its account, until its session ends', async () => {
    const reader = await signIn('reader');
    const address = await link(reader, file);
    // Only accounts with read access learn that the file does not exist.
    expect(await follow(address)).toBe(404);
    expect(await follow(await link(await signIn('nogrant'), file))).toBe(403);
    expect(await follow(await link(reader, '/api/backups/none/file'))).toBe(403);
    await host.call('admin', 'control', 'PATCH', '/api/accounts/reader', { grants: [] });
    expect(await follow(address)).toBe(403);
    const grants = [{ service: 'downloads', resource: '*', permission: 'read' }];
    await host.call('admin', 'control', 'PATCH', '/api/accounts/reader', { grants });
    expect(await follow(address)).toBe(404);
    await fetch(`${base()}/api/session`, { method: 'DELETE', headers: reader });
    expect(await follow(address)).toBe(401);
  });

  it('permits no other address and no change', async () => {
    const reader = await signIn('reader');
    const address = await link(reader, file);
    expect(await follow(address.replace(file, '/api/downloads/other/file'))).toBe(401);
    expect(await follow(await link(reader, '/api/downloads'))).toBe(404);
    expect(await follow(await link(reader, '/api/downloads/pause'), 'POST')).toBe(404);
    expect(await follow(address, 'DELETE')).toBe(405);
  });

  it('is not made by a token', async () => {
    const token = { label: 'x', scopes: [{ service: 'downloads', resource: '*', permission: 'read' }] };
    const readerToken = await host.call('reader', 'control', 'POST', '/api/account/tokens', token);
    const { text } = (await readerToken.json()) as { readonly text: string };
    const headers = { Authorization: `Bearer ${text}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ paths: [file] });
    expect((await fetch(`${base()}/api/links`, { method: 'POST', headers, body })).status).toBe(403);
  });
});

describe('programs on this computer', () => {
  it('may use the downloads without an account until they are no longer trusted', async () => {
    const sendRequest = async (account: 'anonymous' | 'reader' | 'writer', method = 'GET'): Promise<number> =>
      (
        await host.call(
          account,
          'downloads',
          method,
          method === 'GET' ? '/history' : '/delete',
          method === 'GET' ? undefined : { ids: ['x'], where: 'done' },
        )
      ).status;
    expect(await sendRequest('anonymous')).toBe(200);
    await host.call('admin', 'control', 'PATCH', '/api/settings/downloads', { trustLocalPrograms: false });
    expect([await sendRequest('anonymous'), await sendRequest('reader'), await sendRequest('writer')]).toEqual([
      401, 200, 200,
    ]);
    expect([
      await sendRequest('anonymous', 'POST'),
      await sendRequest('reader', 'POST'),
      await sendRequest('writer', 'POST'),
    ]).toEqual([401, 403, 200]);
    await host.call('admin', 'control', 'PATCH', '/api/settings/downloads', { trustLocalPrograms: null });
    expect(await sendRequest('anonymous')).toBe(200);
  });
});
