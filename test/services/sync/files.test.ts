import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, watch } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { adminAuthorization } from '../../support/host.ts';
import { lacksRclone, openSyncFixture, until, type SyncFixture } from './sync-fixture.ts';
import { tree } from './trees.ts';

describe.skipIf(lacksRclone)('The file manager', () => {
  let fixture: SyncFixture;
  let mira: string;
  const at = (name: string): string => join(fixture.folder, name);

  beforeAll(async () => {
    fixture = await openSyncFixture();
    for (const name of ['ada', 'shown', 'closed']) mkdirSync(at(name));
    fixture.write({ 'closed/secret.txt': 'secret', 'shown/read me.txt': '0123456789' });
    symlinkSync(at('closed'), at('shown/link'));
    mira = await fixture.account('mira', [
      { resource: `${at('ada')}/*`, permission: 'read-write' },
      { resource: `${at('shown')}/*`, permission: 'read' },
    ]);
    await fixture.api('POST', '/api/sync/remotes', {
      name: 'nas',
      type: 'alias',
      parameters: { remote: at('ada') },
    });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const request = (method: string, path: string, body?: unknown, authorization = adminAuthorization) =>
    fetch(`${fixture.host.url('control')}/api/sync/files${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const uploadPath = (folder: string, name: string, replace = 'no'): string =>
    `/content?${new URLSearchParams({ at: folder, name, replace }).toString()}`;
  const read = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${fixture.host.url('control')}/api/sync/files/content/${encodeURIComponent(path)}`, {
      headers: { authorization: adminAuthorization, ...headers },
    });
  const end = async (reply: Response): Promise<string> => {
    expect(reply.status).toBe(200);
    const { id } = (await reply.json()) as { id: number };
    const { job } = await until(
      () => fixture.api('GET', `/api/sync/jobs/${String(id)}`),
      (answer) => answer.job.endedAt !== null,
    );
    return job.state;
  };

  it('creates folders and stores uploads, and replaces a file only on request', async () => {
    expect((await request('POST', '/folders', { at: at('ada'), name: 'new' }, mira)).status).toBe(200);
    expect((await request('POST', '/folders', { at: at('ada'), name: 'new' }, mira)).status).toBe(409);
    expect((await request('POST', '/folders', { at: at('ada'), name: '../closed/x' }, mira)).status).toBe(422);
    const name = 'Häfen "2026".txt';
    expect((await request('POST', uploadPath(at('ada/new'), name), 'one', mira)).status).toBe(200);
    expect((await request('POST', uploadPath(at('ada/new'), name), 'two', mira)).status).toBe(409);
    expect(readFileSync(at(`ada/new/${name}`), 'utf8')).toBe('one');
    expect((await request('POST', uploadPath(at('ada/new'), name, 'yes'), 'two', mira)).status).toBe(200);
    expect(readFileSync(at(`ada/new/${name}`), 'utf8')).toBe('two');
  });

  it.each([500, 300_000])('keeps the previous file when an upload ends after %i bytes', async (sentBytes) => {
    const folder = at(`ada/cut-${String(sentBytes)}`);
    mkdirSync(folder);
    fixture.write({ [`ada/cut-${String(sentBytes)}/film.txt`]: 'previous' });
    const names = (): string => readdirSync(folder).toSorted().join();
    const written = Promise.withResolvers<void>();
    const watcher = watch(folder, () => written.resolve());
    const upload = httpRequest(
      `${fixture.host.url('control')}/api/sync/files${uploadPath(folder, 'film.txt', 'yes')}`,
      {
        method: 'POST',
        headers: { authorization: mira, 'content-length': sentBytes * 2 },
      },
    );
    upload.once('error', () => undefined);
    upload.write(Buffer.alloc(sentBytes, 'x'), () => upload.destroy());
    await written.promise;
    watcher.close();
    await until(
      () => Promise.resolve(names()),
      (list) => list === 'film.txt',
    );
    expect(readFileSync(join(folder, 'film.txt'), 'utf8')).toBe('previous');
  });

  it('stores an upload beside links that lead out of the grants, and refuses one in place of such a link', async () => {
    mkdirSync(at('ada/links'));
    symlinkSync(at('closed'), at('ada/links/folder'));
    symlinkSync(at('closed/secret.txt'), at('ada/links/file.txt'));
    symlinkSync(at('missing'), at('ada/links/broken'));
    expect((await request('POST', uploadPath(at('ada/links'), 'new.txt'), 'new', mira)).status).toBe(200);
    expect(readFileSync(at('ada/links/new.txt'), 'utf8')).toBe('new');
    expect((await request('POST', uploadPath(at('ada/links'), 'file.txt', 'yes'), 'x', mira)).status).toBe(403);
    expect((await request('POST', uploadPath(at('ada/links/folder'), 'x.txt'), 'x', mira)).status).toBe(403);
    expect(readFileSync(at('closed/secret.txt'), 'utf8')).toBe('secret');
  });

  it('copies, moves, renames and deletes files and folders as jobs', async () => {
    fixture.write({ 'ada/from/a.txt': 'a', 'ada/from/sub/b.txt': 'b', 'ada/from/c.txt': 'c' });
    mkdirSync(at('ada/to'));
    const file = { path: at('ada/from/a.txt'), isFolder: false };
    const folder = { path: at('ada/from/sub'), isFolder: true };
    const copy = { action: 'copy', items: [file, folder], to: at('ada/to') };
    expect(await end(await request('POST', '/transfers', copy, mira))).toBe('done');
    expect(tree(at('ada/to'))).toEqual({ 'a.txt': 'a', 'sub/b.txt': 'b' });
    expect((await request('POST', '/transfers', copy, mira)).status).toBe(409);
    const rename = { action: 'move', items: [folder], to: at('ada/from'), name: 'renamed' };
    expect(await end(await request('POST', '/transfers', rename, mira))).toBe('done');
    const move = { action: 'move', items: [{ path: at('ada/from/c.txt'), isFolder: false }], to: 'nas:to' };
    expect(await end(await request('POST', '/transfers', move))).toBe('done');
    expect(tree(at('ada/from'))).toEqual({ 'a.txt': 'a', 'renamed/b.txt': 'b' });
    expect(tree(at('ada/to'))).toEqual({ 'a.txt': 'a', 'c.txt': 'c', 'sub/b.txt': 'b' });
    expect(existsSync(at('ada/from/sub'))).toBe(false);
    const inside = { action: 'copy', items: [{ path: at('ada/from'), isFolder: true }], to: at('ada/from/renamed') };
    expect((await request('POST', '/transfers', inside, mira)).status).toBe(422);
    const items = [
      { path: at('ada/to/sub'), isFolder: true },
      { path: 'nas:to/a.txt', isFolder: false },
    ];
    expect(await end(await request('POST', '/deletions', { items }))).toBe('done');
    expect([existsSync(at('ada/to/sub')), existsSync(at('ada/to/a.txt'))]).toEqual([false, false]);
    expect(readFileSync(at('ada/to/c.txt'), 'utf8')).toBe('c');
  });

  it('moves deleted files to a trash and restores them, unless the name is taken again', async () => {
    fixture.write({ 'ada/bin/a.txt': 'a', 'ada/bin/sub/b.txt': 'b', 'ada/bin/stays.txt': 's' });
    const undo = (id: number, authorization = mira): Promise<Response> =>
      fetch(`${fixture.host.url('control')}/api/sync/jobs/${String(id)}/undo`, {
        method: 'POST',
        headers: { authorization },
      });
    const remove = async (items: object[], more: object = {}): Promise<number> => {
      const reply = await request('POST', '/deletions', { items, ...more }, mira);
      const { id } = (await reply.clone().json()) as { id: number };
      expect(await end(reply)).toBe('done');
      return id;
    };
    const file = { path: at('ada/bin/a.txt'), isFolder: false };
    const folder = { path: at('ada/bin/sub'), isFolder: true };
    const listing = await request('GET', `?at=${encodeURIComponent(at('ada/bin'))}`, undefined, mira);
    expect(await listing.json()).toMatchObject({ hasTrash: true });
    const id = await remove([file, folder]);
    expect([existsSync(at('ada/bin/a.txt')), existsSync(at('ada/bin/sub'))]).toEqual([false, false]);
    const other = await fixture.account('noa', [{ resource: `${at('ada')}/*`, permission: 'read-write' }]);
    expect((await undo(id, other)).status).toBe(404);
    fixture.write({ 'ada/bin/a.txt': 'new' });
    expect((await undo(id)).status).toBe(409);
    await remove([file], { permanently: true });
    expect(await end(await undo(id))).toBe('done');
    expect(tree(at('ada/bin'))).toEqual({ 'a.txt': 'a', 'stays.txt': 's', 'sub/b.txt': 'b' });
    expect(existsSync(at('ada/bin/.homeport-trash'))).toBe(false);
    expect((await undo(id)).status).toBe(409);
  });

  it('keeps a deletion that cannot be undone because its storage does not respond', async () => {
    fixture.write({ 'ada/gone/a.txt': 'a' });
    const remote = { name: 'usb', type: 'alias', parameters: { remote: at('ada/gone') } };
    await fixture.api('POST', '/api/sync/remotes', remote);
    const reply = await request('POST', '/deletions', { items: [{ path: 'usb:a.txt', isFolder: false }] });
    const { id } = (await reply.clone().json()) as { id: number };
    expect(await end(reply)).toBe('done');
    const undo = (): Promise<Response> =>
      fetch(`${fixture.host.url('control')}/api/sync/jobs/${String(id)}/undo`, {
        method: 'POST',
        headers: { authorization: adminAuthorization },
      });
    await fixture.api('DELETE', '/api/sync/remotes/usb');
    expect((await undo()).status).toBe(502);
    await fixture.api('POST', '/api/sync/remotes', remote);
    expect(await end(await undo())).toBe('done');
    expect(tree(at('ada/gone'))).toEqual({ 'a.txt': 'a' });
  });

  it('empties the trash of the file manager after the configured time', async () => {
    const clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
    await using local = await openSyncFixture({ clock });
    await local.api('PATCH', '/api/settings/sync', { keepDays: 5, keepReplacedDays: 30 });
    local.write({ 'bin/a.txt': 'a', 'bin/b.txt': 'b' });
    const path = join(local.folder, 'bin/a.txt');
    const { id } = await local.api('POST', '/api/sync/files/deletions', { items: [{ path, isFolder: false }] });
    await until(
      () => local.api('GET', `/api/sync/jobs/${String(id)}`),
      ({ job }) => job.state === 'done' && job.canUndo,
    );
    expect(Object.keys(tree(join(local.folder, 'bin')))).toHaveLength(2);
    // A sync of the folder leaves out its trash.
    const ends = { source: join(local.folder, 'bin'), destination: join(local.folder, 'copy') };
    const task = await local.api('POST', '/api/sync/tasks', { name: 'copy', mode: 'sync', ...ends });
    await local.api('POST', `/api/sync/tasks/${String(task.id)}/run`, {});
    await until(
      async () => existsSync(join(local.folder, 'copy/b.txt')),
      (isSo) => isSo,
    );
    expect(existsSync(join(local.folder, 'copy/.homeport-trash'))).toBe(false);
    clock.set(Date.UTC(2026, 6, 2, 12));
    clock.advance(3_600_000);
    await until(
      async () => existsSync(join(local.folder, 'bin/.homeport-trash')),
      (isSo) => !isSo,
    );
    expect(tree(join(local.folder, 'bin'))).toEqual({ 'b.txt': 'b' });
  });

  it('deletes only permanently inside of a trash', async () => {
    fixture.write({ 'ada/.homeport-trash/x/a.txt': 'a' });
    const items = [{ path: at('ada/.homeport-trash/x/a.txt'), isFolder: false }];
    const inTrash = encodeURIComponent(at('ada/.homeport-trash/x'));
    expect(await (await request('GET', `?at=${inTrash}`, undefined, mira)).json()).toMatchObject({ hasTrash: false });
    expect((await request('POST', '/deletions', { items }, mira)).status).toBe(409);
    const trash = [{ path: at('ada/.homeport-trash'), isFolder: true }];
    expect((await request('POST', '/deletions', { items: trash }, mira)).status).toBe(409);
    expect(await end(await request('POST', '/deletions', { items: trash, permanently: true }, mira))).toBe('done');
    expect(existsSync(at('ada/.homeport-trash'))).toBe(false);
  });

  it('does not follow a trash folder that is a link out of the grants', async () => {
    fixture.write({ 'ada/linked/a.txt': 'a' });
    symlinkSync(at('closed'), at('ada/linked/.homeport-trash'));
    const items = [{ path: at('ada/linked/a.txt'), isFolder: false }];
    expect((await request('POST', '/deletions', { items }, mira)).status).toBe(403);
    expect(readFileSync(at('ada/linked/a.txt'), 'utf8')).toBe('a');
  });

  it('refuses to copy or move files and folders onto or into themselves under another name', async () => {
    fixture.write({ 'ada/self/film.txt': 'film' });
    symlinkSync(at('ada/self'), at('ada/self-link'));
    const file = { path: at('ada/self/film.txt'), isFolder: false };
    const folder = { path: at('ada/self'), isFolder: true };
    for (const [item, to] of [
      [file, 'nas:self'],
      [file, at('ada/self-link')],
      [{ ...file, path: 'nas:self/film.txt' }, at('ada/self')],
      [folder, 'nas:self'],
      [folder, at('ada/self-link')],
      [{ ...folder, path: at('ada//self') }, at('ada/self/deep')],
      [{ ...folder, path: at('ada/x/../self') }, at('ada')],
    ] as const) {
      for (const action of ['copy', 'move']) {
        const reply = await request('POST', '/transfers', { action, items: [item], to, replace: true });
        expect([400, 422], `${action} ${item.path} ${to}`).toContain(reply.status);
      }
    }
    const rename = { action: 'move', items: [file], to: at('ada/self'), name: 'Film.txt' };
    expect(await end(await request('POST', '/transfers', rename, mira))).toBe('done');
    expect(tree(at('ada/self'))).toEqual({ 'Film.txt': 'film' });
  });

  it('refuses items of several folders that would get the same name', async () => {
    fixture.write({ 'ada/one/film.txt': 'one', 'ada/two/film.txt': 'two' });
    const items = ['one', 'two'].map((name) => ({ path: at(`ada/${name}/film.txt`), isFolder: false }));
    const move = { action: 'move', items, to: at('ada/both'), replace: true };
    expect((await request('POST', '/transfers', move, mira)).status).toBe(422);
    expect([tree(at('ada/one')), tree(at('ada/two'))]).toEqual([{ 'film.txt': 'one' }, { 'film.txt': 'two' }]);
  });

  it('replaces a file of the same size on request, also where times are not stored', async () => {
    fixture.write({ 'ada/same/new/film.txt': 'one', 'ada/same/film.txt': 'two' });
    const time = new Date('2026-01-01T00:00:00Z');
    for (const path of ['ada/same/new/film.txt', 'ada/same/film.txt']) utimesSync(at(path), time, time);
    const items = [{ path: at('ada/same/new/film.txt'), isFolder: false }];
    const move = { action: 'move', items, to: at('ada/same'), replace: true };
    expect(await end(await request('POST', '/transfers', move, mira))).toBe('done');
    expect(tree(at('ada/same'))).toEqual({ 'film.txt': 'one' });
  });

  it('sends files of this computer and of remotes, with ranges', async () => {
    fixture.write({ 'ada/part [1].txt': '0123456789' });
    for (const path of [at('ada/part [1].txt'), 'nas:part [1].txt']) {
      const whole = await read(path);
      expect([whole.status, await whole.text()]).toEqual([200, '0123456789']);
      expect(whole.headers.get('content-security-policy')).toContain('sandbox');
      const part = await read(path, { range: 'bytes=2-4' });
      expect([part.status, await part.text()]).toEqual([206, '234']);
      expect(part.headers.get('content-range')).toBe('bytes 2-4/10');
    }
    expect((await read('nas:missing.txt')).status).toBe(404);
    expect((await read(at('ada'))).status).toBe(404);
  });

  it('refuses locations outside of the grants, for reading and for each change', async () => {
    const listing = async (folder: string) =>
      (await request('GET', `?at=${encodeURIComponent(folder)}`, undefined, mira)).json();
    expect(await listing(at('ada'))).toMatchObject({ canWrite: true });
    expect(await listing(at('shown'))).toMatchObject({ canWrite: false });
    const secret = { path: at('closed/secret.txt'), isFolder: false };
    const shown = { path: at('shown/read me.txt'), isFolder: false };
    const content = (path: string) => request('GET', `/content/${encodeURIComponent(path)}`, undefined, mira);
    expect((await content(shown.path)).status).toBe(200);
    const statuses = await Promise.all([
      content(secret.path),
      content(at('shown/link/secret.txt')),
      content(join(fixture.host.dataDir, 'vault.key')),
      content('nas:part [1].txt'),
      content(':local:/etc/passwd'),
      request('POST', '/folders', { at: at('shown'), name: 'x' }, mira),
      request('POST', uploadPath(at('closed'), 'x'), 'x', mira),
      request('POST', uploadPath(at('shown'), 'x'), 'x', mira),
      request('POST', '/transfers', { action: 'copy', items: [secret], to: at('ada') }, mira),
      request('POST', '/transfers', { action: 'move', items: [shown], to: at('ada') }, mira),
      request('POST', '/transfers', { action: 'copy', items: [shown], to: at('closed') }, mira),
      request('POST', '/deletions', { items: [shown] }, mira),
      request('POST', '/deletions', { items: [{ path: at('closed'), isFolder: true }] }, mira),
      request('POST', '/links', { path: shown.path }, mira),
    ]).then((replies) => replies.map(({ status }) => status));
    expect(statuses.map((status) => status === 403 || status === 400)).toEqual(statuses.map(() => true));
    expect(readFileSync(secret.path, 'utf8')).toBe('secret');
  });

  it('reports the storage of a remote, and runs no program that its name would start', async () => {
    const storage = await fixture.api('GET', '/api/sync/remotes/nas/storage');
    expect(storage).toEqual({
      used: expect.any(Number),
      total: expect.any(Number),
      free: expect.any(Number),
      hasPublicLinks: false,
    });
    const program = encodeURIComponent(`:sftp,ssh="touch ${at('made')}"`);
    const url = `${fixture.host.url('control')}/api/sync/remotes/${program}/storage`;
    expect((await fetch(url, { headers: { authorization: adminAuthorization } })).status).toBe(400);
    expect(existsSync(at('made'))).toBe(false);
  });
});
