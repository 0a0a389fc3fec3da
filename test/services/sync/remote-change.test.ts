import * as causes from '#messages/sync-causes';
import * as problems from '#messages/sync-problems';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { lacksRclone, openSyncFixture, rclonePath, type SyncFixture } from './sync-fixture.ts';

/** Starts a file server with a password, such as a NAS has: rclone's WebDAV server. */
async function openServer(folder: string, port: number, password: string): Promise<ChildProcess> {
  const where = ['--addr', `127.0.0.1:${String(port)}`, '--user', 'ada', '--pass', password];
  const server = spawn(rclonePath ?? '', ['serve', 'webdav', folder, ...where, '--config', '/dev/null'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const line of createInterface({ input: server.stderr })) if (line.includes('Server started on')) break;
  server.stderr.resume();
  return server;
}

describe.skipIf(lacksRclone)('a configured remote', () => {
  let fixture: SyncFixture;
  let port: number;
  let server: ChildProcess;
  const change = (parameters: object, name = 'nas') =>
    fixture.api('PATCH', `/api/sync/remotes/${name}`, { parameters });
  const listFiles = async (name: string) =>
    (await fixture.call('operations/list', { fs: `${name}:`, remote: '' })).body;

  const restart = async (password: string): Promise<void> => {
    server.kill();
    await once(server, 'exit');
    server = await openServer(fixture.folder, port, password);
  };

  beforeAll(async () => {
    [fixture, port] = await Promise.all([openSyncFixture(), freePort()]);
    fixture.write({ 'a.txt': 'a' });
    server = await openServer(fixture.folder, port, 'first-tide');
    const parameters = { url: `http://127.0.0.1:${String(port)}`, vendor: 'other', user: 'ada', pass: 'first-tide' };
    expect(await fixture.api('POST', '/api/sync/remotes', { name: 'nas', type: 'webdav', parameters })).toEqual({
      step: 'done',
    });
    expect((await listFiles('nas')).list).toHaveLength(1);
  });
  afterAll(async () => {
    server.kill();
    await fixture[Symbol.asyncDispose]();
  });

  it('returns its fields, and only the names of its secrets', async () => {
    expect(await fixture.api('GET', '/api/sync/remotes/nas')).toEqual({
      ...{ name: 'nas', type: 'webdav', secrets: ['pass'] },
      values: { url: `http://127.0.0.1:${String(port)}`, vendor: 'other', user: 'ada' },
    });
    await expect(fixture.api('GET', '/api/sync/remotes/nosuch')).rejects.toThrow('404');
  });

  it('accepts a new password and keeps the other fields', async () => {
    await restart('second-tide');
    expect((await listFiles('nas')).list).toBeUndefined();
    expect(await change({ pass: 'second-tide' })).toEqual({ ok: true });
    expect((await listFiles('nas')).list).toMatchObject([{ Path: 'a.txt' }]);
    expect(await fixture.api('GET', '/api/sync/remotes/nas')).toMatchObject({
      values: { user: 'ada', vendor: 'other' },
    });
  });

  it('remains unchanged if it does not respond with the new values', async () => {
    await expect(change({ url: 'http://127.0.0.1:1', user: 'bob' })).rejects.toThrow(causes.connectionRefused());
    expect(await fixture.api('GET', '/api/sync/remotes/nas')).toMatchObject({
      values: { url: `http://127.0.0.1:${String(port)}`, user: 'ada' },
    });
    expect((await listFiles('nas')).list).toHaveLength(1);
    await expect(change({ user: 'x' }, 'nosuch')).rejects.toThrow('404');
  });

  it('is not set up with a password that its server rejects', async () => {
    const parameters = { url: `http://127.0.0.1:${String(port)}`, vendor: 'other', user: 'ada', pass: 'wrong-tide' };
    const wrong = fixture.api('POST', '/api/sync/remotes', { name: 'wrong', type: 'webdav', parameters });
    await expect(wrong).rejects.toThrow(causes.signInRejected());
    await expect(fixture.api('GET', '/api/sync/remotes/wrong')).rejects.toThrow('404');
    await expect(change({ pass: 'wrong-tide' })).rejects.toThrow(causes.signInRejected());
    expect((await listFiles('nas')).list).toHaveLength(1);
  });

  it('restores the default of a field that is cleared', async () => {
    await change({ vendor: '' });
    expect((await listFiles('nas')).list).toMatchObject([{ Path: 'a.txt' }]);
  });

  it('is reopened by remotes that wrap it', async () => {
    fixture.write({ 'left/l.txt': 'l', 'right/r.txt': 'r', 'none/.keep': '' });
    const upstreams = (folder: string) => `${fixture.folder}/${folder} ${fixture.folder}/none`;
    const add = (name: string, type: string, parameters: object) =>
      fixture.api('POST', '/api/sync/remotes', { name, type, parameters });
    await add('inner', 'union', { upstreams: upstreams('left') });
    await add('outer', 'combine', { upstreams: 'all=inner:' });
    const listAll = async () =>
      (await fixture.call('operations/list', { fs: 'outer:all', remote: '' })).body.list
        .map(({ Path }: { Path: string }) => Path)
        .toSorted();
    expect(await listAll()).toEqual(['.keep', 'l.txt']);
    await change({ upstreams: upstreams('right') }, 'inner');
    expect(await listAll()).toEqual(['.keep', 'r.txt']);
  });

  it('refers to its current folder, also after it is removed and created again', async () => {
    fixture.write({ 'one/1.txt': '1', 'two/2.txt': '2', 'three/3.txt': '3' });
    const add = (folder: string) =>
      fixture.api('POST', '/api/sync/remotes', {
        name: 'short',
        type: 'alias',
        parameters: { remote: `${fixture.folder}/${folder}` },
      });
    const listPaths = async () => (await listFiles('short')).list.map(({ Path }: { Path: string }) => Path);
    await add('one');
    expect(await listPaths()).toEqual(['1.txt']);
    await change({ remote: `${fixture.folder}/two` }, 'short');
    expect(await listPaths()).toEqual(['2.txt']);
    await fixture.api('DELETE', '/api/sync/remotes/short');
    await add('three');
    expect(await listPaths()).toEqual(['3.txt']);
  });

  it('rejects changes of its type and options that run programs', async () => {
    await expect(change({ type: 'local' })).rejects.toThrow(problems.remoteTypeFixed());
    await expect(change({ _root: '/' })).rejects.toThrow('422');
    await expect(change({ url: 'https://XXX@127.0.0.1/' })).rejects.toThrow(
      problems.signInPlaceholder({ placeholder: 'XXX' }),
    );
    await expect(change({ bearer_token_command: 'touch /tmp/x' })).rejects.toThrow('run a program');
    const bob = await fixture.account('bob', [{ resource: 'nas:*', permission: 'read-write' }]);
    await expect(fixture.api('GET', '/api/sync/remotes/nas', undefined, bob)).rejects.toThrow('403');
    await expect(fixture.api('PATCH', '/api/sync/remotes/nas', { parameters: {} }, bob)).rejects.toThrow('403');
  });

  it('writes no secret to the log', () => {
    expect(fixture.host.log.join('\n')).not.toMatch(/first-tide|second-tide|wrong-tide|pass=/);
  });
});
