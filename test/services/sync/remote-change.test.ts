import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { lacksRclone, openSyncRoom, rclonePath, type SyncRoom } from './sync-fixture.ts';

/** A server of files that asks for a password, as a NAS is one: rclone's own, by WebDAV. */
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
  let room: SyncRoom;
  let port: number;
  let server: ChildProcess;
  const change = (parameters: object, name = 'nas') => room.api('PATCH', `/api/sync/remotes/${name}`, { parameters });
  const filesOf = async (name: string) => (await room.call('operations/list', { fs: `${name}:`, remote: '' })).body;

  const restart = async (password: string): Promise<void> => {
    server.kill();
    await once(server, 'exit');
    server = await openServer(room.folder, port, password);
  };

  beforeAll(async () => {
    [room, port] = await Promise.all([openSyncRoom(), freePort()]);
    room.write({ 'a.txt': 'a' });
    server = await openServer(room.folder, port, 'first-tide');
    const parameters = { url: `http://127.0.0.1:${String(port)}`, vendor: 'other', user: 'ada', pass: 'first-tide' };
    expect(await room.api('POST', '/api/sync/remotes', { name: 'nas', type: 'webdav', parameters })).toEqual({
      step: 'done',
    });
    expect((await filesOf('nas')).list).toHaveLength(1);
  });
  afterAll(async () => {
    server.kill();
    await room[Symbol.asyncDispose]();
  });

  it('returns its fields, and only the names of its secrets', async () => {
    expect(await room.api('GET', '/api/sync/remotes/nas')).toEqual({
      ...{ name: 'nas', type: 'webdav', secrets: ['pass'] },
      values: { url: `http://127.0.0.1:${String(port)}`, vendor: 'other', user: 'ada' },
    });
    await expect(room.api('GET', '/api/sync/remotes/nosuch')).rejects.toThrow('404');
  });

  it('accepts a new password and keeps the other fields', async () => {
    await restart('second-tide');
    expect((await filesOf('nas')).list).toBeUndefined();
    expect(await change({ pass: 'second-tide' })).toEqual({ ok: true });
    expect((await filesOf('nas')).list).toMatchObject([{ Path: 'a.txt' }]);
    expect(await room.api('GET', '/api/sync/remotes/nas')).toMatchObject({ values: { user: 'ada', vendor: 'other' } });
  });

  it('remains unchanged if it does not respond with the new values', async () => {
    await expect(change({ url: 'http://127.0.0.1:1', user: 'bob' })).rejects.toThrow(
      /422.*nothing answers at its address/,
    );
    expect(await room.api('GET', '/api/sync/remotes/nas')).toMatchObject({
      values: { url: `http://127.0.0.1:${String(port)}`, user: 'ada' },
    });
    expect((await filesOf('nas')).list).toHaveLength(1);
    await expect(change({ user: 'x' }, 'nosuch')).rejects.toThrow('404');
  });

  it('is not set up with a password that its server rejects', async () => {
    const parameters = { url: `http://127.0.0.1:${String(port)}`, vendor: 'other', user: 'ada', pass: 'wrong-tide' };
    const wrong = room.api('POST', '/api/sync/remotes', { name: 'wrong', type: 'webdav', parameters });
    await expect(wrong).rejects.toThrow(/422.*does not accept the sign-in/);
    await expect(room.api('GET', '/api/sync/remotes/wrong')).rejects.toThrow('404');
    await expect(change({ pass: 'wrong-tide' })).rejects.toThrow(/422.*does not accept the sign-in/);
    expect((await filesOf('nas')).list).toHaveLength(1);
  });

  it('restores the default of a field that is cleared', async () => {
    await change({ vendor: '' });
    expect((await filesOf('nas')).list).toMatchObject([{ Path: 'a.txt' }]);
  });

  it('is reopened by remotes that wrap it', async () => {
    room.write({ 'left/l.txt': 'l', 'right/r.txt': 'r', 'none/.keep': '' });
    const upstreams = (folder: string) => `${room.folder}/${folder} ${room.folder}/none`;
    const add = (name: string, type: string, parameters: object) =>
      room.api('POST', '/api/sync/remotes', { name, type, parameters });
    await add('inner', 'union', { upstreams: upstreams('left') });
    await add('outer', 'combine', { upstreams: 'all=inner:' });
    const found = async () =>
      (await room.call('operations/list', { fs: 'outer:all', remote: '' })).body.list
        .map(({ Path }: { Path: string }) => Path)
        .toSorted();
    expect(await found()).toEqual(['.keep', 'l.txt']);
    await change({ upstreams: upstreams('right') }, 'inner');
    expect(await found()).toEqual(['.keep', 'r.txt']);
  });

  it('refers to its current folder, also after it is removed and created again', async () => {
    room.write({ 'one/1.txt': '1', 'two/2.txt': '2', 'three/3.txt': '3' });
    const add = (folder: string) =>
      room.api('POST', '/api/sync/remotes', {
        name: 'short',
        type: 'alias',
        parameters: { remote: `${room.folder}/${folder}` },
      });
    const found = async () => (await filesOf('short')).list.map(({ Path }: { Path: string }) => Path);
    await add('one');
    expect(await found()).toEqual(['1.txt']);
    await change({ remote: `${room.folder}/two` }, 'short');
    expect(await found()).toEqual(['2.txt']);
    await room.api('DELETE', '/api/sync/remotes/short');
    await add('three');
    expect(await found()).toEqual(['3.txt']);
  });

  it('rejects changes of its type and options that run programs', async () => {
    await expect(change({ type: 'local' })).rejects.toThrow('stays of its kind');
    await expect(change({ _root: '/' })).rejects.toThrow('422');
    await expect(change({ url: 'https://XXX@127.0.0.1/' })).rejects.toThrow('Write the sign-in in this address again');
    await expect(change({ bearer_token_command: 'touch /tmp/x' })).rejects.toThrow('run a program');
    const bob = await room.account('bob', [{ resource: 'nas:*', permission: 'read-write' }]);
    await expect(room.api('GET', '/api/sync/remotes/nas', undefined, bob)).rejects.toThrow('403');
    await expect(room.api('PATCH', '/api/sync/remotes/nas', { parameters: {} }, bob)).rejects.toThrow('403');
  });

  it('writes no secret to the log', () => {
    expect(room.host.log.join('\n')).not.toMatch(/first-tide|second-tide|wrong-tide|pass=/);
  });
});
