import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { lacksRclone, openSyncFixture, type SyncFixture } from './sync-fixture.ts';

/** Content that must never be returned or overwritten. */
const secret = 'the secret of somebody else';

describe.skipIf(lacksRclone)('access of an account with a grant for one folder', () => {
  let fixture: SyncFixture;
  let bob: string;
  const as = (path: string, input: object) => fixture.call(path, input, { authorization: bob });
  const getOwnFolder = (): string => join(fixture.folder, 'mine');
  const others = (): string => join(fixture.folder, 'others');

  beforeAll(async () => {
    fixture = await openSyncFixture();
    fixture.write({ 'mine/a.txt': 'a', 'mine/b/c.txt': 'c', 'others/secret.txt': secret, 'mine-too/x': secret });
    symlinkSync(others(), join(getOwnFolder(), 'link'));
    symlinkSync(join(others(), 'new'), join(getOwnFolder(), 'dangling'));
    bob = await fixture.account('bob', [
      { resource: `${getOwnFolder()}/*`, permission: 'read-write' },
      { resource: 'cloud:mine/*', permission: 'read-write' },
    ]);
    for (const [name, type, parameters] of [
      ['cloud', 'alias', { remote: getOwnFolder() }],
      ['all', 'alias', { remote: fixture.folder }],
    ] as const) {
      expect((await fixture.call('config/create', { name, type, parameters })).status).toBe(200);
    }
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  it('allows the granted folder itself', async () => {
    expect((await as('operations/list', { fs: getOwnFolder(), remote: 'b' })).body.list[0].Path).toBe('b/c.txt');
    expect(
      (
        await as('sync/copy', {
          srcFs: getOwnFolder(),
          dstFs: `${getOwnFolder()}/copy`,
          _filter: { ExcludeRule: ['/copy/**'] },
        })
      ).status,
    ).toBe(200);
    expect(readFileSync(join(getOwnFolder(), 'copy/b/c.txt'), 'utf8')).toBe('c');
    expect(existsSync(join(getOwnFolder(), 'copy/link'))).toBe(false);
  });

  /** Spellings of a path or remote outside of the permitted folder. */
  const outsidePaths = (): readonly unknown[] => [
    others(),
    `${getOwnFolder()}/../others`,
    `${getOwnFolder()}/link`,
    `${getOwnFolder()}/dangling`,
    `${getOwnFolder()}-too`,
    fixture.folder,
    '/',
    `//${others()}`,
    `:local:${others()}`,
    `:local,copy_links=true:${getOwnFolder()}`,
    `:alias,remote="${others()}":`,
    `:union,upstreams="${others()}":`,
    `:combine,upstreams="o=${others()}":`,
    `:crypt,remote="${others()}":`,
    `:chunker,remote="${others()}":`,
    `:archive,remote="${others()}":`,
    `cloud,remote="${others()}":mine`,
    `cloud:mine/../../others`,
    `cloud:../others`,
    `cloud:`,
    `all:`,
    `all:others`,
    `nosuch:${others()}`,
    `C:${others()}`,
    `./others`,
    `../others`,
    'others',
    '',
    `${getOwnFolder()}\0/../others`,
    { type: 'local', _root: others() },
    { _name: 'all', _root: 'others' },
    { type: 'alias', remote: others(), _root: '' },
    [others()],
  ];

  const shapes: readonly (readonly [string, (path: unknown) => object])[] = [
    ['operations/list', (fs) => ({ fs, remote: '' })],
    ['operations/list', (fs) => ({ fs: `${getOwnFolder()}`, remote: fs, opt: { recurse: true } })],
    ['operations/stat', (fs) => ({ fs, remote: 'secret.txt' })],
    ['operations/size', (fs) => ({ fs })],
    ['operations/about', (fs) => ({ fs })],
    ['operations/fsinfo', (fs) => ({ fs })],
    ['operations/hashsum', (fs) => ({ fs, hashType: 'md5' })],
    ['operations/hashsumfile', (fs) => ({ fs, remote: 'secret.txt', hashType: 'md5' })],
    ['operations/check', (fs) => ({ srcFs: fs, dstFs: getOwnFolder() })],
    ['operations/check', (fs) => ({ srcFs: getOwnFolder(), dstFs: fs })],
    ['sync/copy', (fs) => ({ srcFs: fs, dstFs: `${getOwnFolder()}/loot` })],
    ['sync/sync', (fs) => ({ srcFs: `${getOwnFolder()}/b`, dstFs: fs })],
    ['sync/move', (fs) => ({ srcFs: fs, dstFs: `${getOwnFolder()}/loot` })],
    [
      'sync/copy',
      (fs) => ({ srcFs: `${getOwnFolder()}/b`, dstFs: `${getOwnFolder()}/copy`, _config: { BackupDir: fs } }),
    ],
    [
      'sync/copy',
      (fs) => ({
        srcFs: `${getOwnFolder()}/b`,
        dstFs: `${getOwnFolder()}/copy`,
        _config: JSON.stringify({ CopyDest: [fs] }),
      }),
    ],
    ['sync/copy', (fs) => ({ srcFs: `${getOwnFolder()}/b`, dstFs: `${getOwnFolder()}/copy`, backup_dir: fs })],
    [
      'sync/copy',
      (fs) => ({ srcFs: `${getOwnFolder()}/b`, dstFs: `${getOwnFolder()}/copy`, _filter: { FilesFrom: [fs] } }),
    ],
    [
      'operations/copyfile',
      (fs) => ({ srcFs: fs, srcRemote: 'secret.txt', dstFs: getOwnFolder(), dstRemote: 'loot.txt' }),
    ],
    [
      'operations/copyfile',
      (fs) => ({ srcFs: getOwnFolder(), srcRemote: fs, dstFs: getOwnFolder(), dstRemote: 'loot.txt' }),
    ],
    [
      'operations/copyfile',
      (fs) => ({ srcFs: getOwnFolder(), srcRemote: 'a.txt', dstFs: fs, dstRemote: 'secret.txt' }),
    ],
    [
      'operations/movefile',
      (fs) => ({ srcFs: fs, srcRemote: 'secret.txt', dstFs: getOwnFolder(), dstRemote: 'loot.txt' }),
    ],
    ['operations/deletefile', (fs) => ({ fs, remote: 'secret.txt' })],
    ['operations/delete', (fs) => ({ fs })],
    ['operations/purge', (fs) => ({ fs, remote: '' })],
    ['operations/mkdir', (fs) => ({ fs, remote: 'made' })],
    ['operations/rmdirs', (fs) => ({ fs, remote: '' })],
    ['job/batch', (fs) => ({ inputs: [{ _path: 'sync/copy', srcFs: fs, dstFs: `${getOwnFolder()}/loot` }] })],
  ];

  it('denies everything else, for every parameter of every call', async () => {
    const before = readdirSync(fixture.folder);
    for (const [path, shape] of shapes) {
      for (const way of outsidePaths()) {
        const input = shape(way);
        const { status, body } = await as(path, input);
        const description = `${path} ${JSON.stringify(input)}: ${String(status)} ${JSON.stringify(body)}`;
        if (path === 'job/batch') expect(body.results[0].error, description).toBeDefined();
        else if (status === 200) {
          // Within the folder, a relative path is a missing name, and an empty path is the folder itself.
          const where = JSON.stringify(shape('*')).includes('"remote":"*"') && path === 'operations/list';
          expect(where, description).toBe(true);
        }
        expect(JSON.stringify(body).replace(/"input":.*/s, ''), description).not.toContain(secret);
      }
    }
    for (const remote of ['link', 'link/secret.txt', 'b/../../others/secret.txt', '../others', 'dangling']) {
      for (const path of [
        'operations/list',
        'operations/stat',
        'operations/deletefile',
        'operations/mkdir',
        'operations/purge',
      ]) {
        expect((await as(path, { fs: getOwnFolder(), remote })).status, `${path} ${remote}`).toBe(403);
      }
    }
    expect(readdirSync(fixture.folder)).toEqual(before);
    expect(readdirSync(others())).toEqual(['secret.txt']);
    expect(readFileSync(join(others(), 'secret.txt'), 'utf8')).toBe(secret);
    const targetFolder = join(getOwnFolder(), 'loot');
    if (existsSync(targetFolder)) expect(readdirSync(targetFolder)).toEqual([]);
    expect(existsSync(join(getOwnFolder(), 'loot.txt'))).toBe(false);
  });

  it('denies targets of links in a writable folder', async () => {
    fixture.write({ 'mine/tricky/from/link/secret.txt': 'loot', 'mine/tricky/from/dangling': 'loot' });
    mkdirSync(join(getOwnFolder(), 'tricky/to'));
    for (const [name, target] of [
      ['link', others()],
      ['dangling', join(others(), 'new')],
    ] as const) {
      symlinkSync(target, join(getOwnFolder(), 'tricky/to', name));
      const ends = { srcFs: `${getOwnFolder()}/tricky/from`, dstFs: `${getOwnFolder()}/tricky/to` };
      for (const path of ['sync/copy', 'sync/sync', 'sync/move']) {
        expect((await as(path, { ...ends, _config: { Inplace: true } })).status, `${path} ${name}`).toBe(403);
      }
      rmSync(join(getOwnFolder(), 'tricky/to', name));
    }
    expect(readdirSync(others())).toEqual(['secret.txt']);
    expect(readFileSync(join(others(), 'secret.txt'), 'utf8')).toBe(secret);
    rmSync(join(getOwnFolder(), 'tricky'), { recursive: true });
  });

  it('denies calls for administrators, and their jobs', async () => {
    for (const path of [
      'config/dump',
      'config/create',
      'options/set',
      'options/get',
      'core/bwlimit',
      'core/stats-reset',
      'operations/copyurl',
      'sync/bisync',
      'config/providers',
      'core/du',
      'vfs/list',
    ]) {
      expect(
        (await as(path, { name: 'x', type: 'local', path1: getOwnFolder(), path2: getOwnFolder() })).status,
        path,
      ).toBe(403);
    }
    const { body } = await fixture.call('sync/copy', {
      srcFs: getOwnFolder(),
      dstFs: `${others()}/../copied`,
      _async: true,
    });
    const jobs = (await as('job/list', {})).body;
    expect(jobs.jobids).not.toContain(body.jobid);
    expect((await as('job/status', { jobid: body.jobid })).body.error).toBe('job not found');
    expect((await as('job/stop', { jobid: body.jobid })).body.error).toBe('job not found');
  });

  it('denies everything without a grant', async () => {
    mkdirSync(join(fixture.folder, 'free'));
    const eve = await fixture.account('eve', []);
    expect((await fixture.call('rc/noop', {}, { authorization: eve })).status).toBe(403);
  });

  it('refuses a folder in which a part is denied', async () => {
    const dan = await fixture.account('dan', [
      { resource: `${fixture.folder}/*`, permission: 'read-write' },
      { resource: `${others()}/*`, permission: 'none' },
    ]);
    const asDan = (fs: string) => fixture.call('operations/size', { fs }, { authorization: dan });
    expect((await asDan(fixture.folder)).status).toBe(403);
    expect((await asDan(others())).status).toBe(403);
    expect((await asDan(getOwnFolder())).status).toBe(200);
  });

  it('allows less with a scoped token, also of an administrator', async () => {
    const scopes = [{ service: 'sync', resource: `${getOwnFolder()}/b/*`, permission: 'read' }];
    const token = async (authorization: string): Promise<string> => {
      const { text } = await fixture.api(
        'POST',
        '/api/account/tokens',
        { label: 'nas', expiresAt: null, scopes },
        authorization,
      );
      return `Bearer ${text as string}`;
    };
    for (const authorization of [await token(bob), await token(adminAuthorization)]) {
      const asToken = (path: string, input: object) => fixture.call(path, input, { authorization });
      expect((await asToken('operations/size', { fs: `${getOwnFolder()}/b` })).status).toBe(200);
      expect((await asToken('operations/size', { fs: getOwnFolder() })).status).toBe(403);
      expect((await asToken('operations/size', { fs: others() })).status).toBe(403);
      expect((await asToken('operations/mkdir', { fs: `${getOwnFolder()}/b`, remote: 'x' })).status).toBe(403);
      expect((await asToken('config/dump', {})).status).toBe(403);
      // Contains the account's own setup question and nothing else.
      expect((await asToken('job/list', {})).body.finishedIds).toHaveLength(1);
    }
  });

  it('never runs a program, in any form of the request', async () => {
    const mark = join(fixture.folder, 'executed');
    const command = `touch ${mark}`;
    const inline = `:sftp,host=127.0.0.1,ssh="${command}":/`;
    for (const [path, input] of [
      ['core/command', { command: 'version' }],
      ['backend/command', { command: 'noop', fs: getOwnFolder() }],
      ['operations/list', { fs: inline, remote: '' }],
      ['operations/list', { fs: `:sftp,server_command="${command}":/`, remote: '' }],
      ['operations/list', { fs: `:webdav,url="http://127.0.0.1:1",bearer_token_command="${command}":/`, remote: '' }],
      ['operations/list', { fs: `:alias,remote='${inline}':`, remote: '' }],
      ['operations/list', { fs: `all,global.metadata_mapper="${command}":`, remote: '' }],
      ['operations/list', { fs: { type: 'sftp', ssh: command, _root: '' }, remote: '' }],
      ['config/create', { name: 'x', type: 'sftp', parameters: { ssh: command } }],
      ['config/create', { name: 'x', type: 'sftp', parameters: JSON.stringify({ ssh: command }) }],
      ['config/create', { name: 'x', type: 'webdav', parameters: { bearer_token_command: command } }],
      ['config/create', { name: 'x', type: 'alias', parameters: { remote: inline } }],
      ['config/update', { name: 'all', parameters: { remote: inline } }],
      ['options/set', { main: { MetadataMapper: [command] } }],
      ['options/set', { main: { PasswordCommand: [command] } }],
      ['options/set', { rc: { NoAuth: true } }],
      [
        'sync/copy',
        { srcFs: getOwnFolder(), dstFs: `${fixture.folder}/y`, _config: { MetadataMapper: [command], Metadata: true } },
      ],
      [
        'sync/copy',
        { srcFs: getOwnFolder(), dstFs: `${fixture.folder}/y`, _config: JSON.stringify({ MetadataMapper: command }) },
      ],
      ['sync/copy', { srcFs: getOwnFolder(), dstFs: `${fixture.folder}/y`, metadata_mapper: command, metadata: true }],
      ['job/batch', { inputs: [{ _path: 'core/command', command: 'version' }] }],
      ['mount/mount', { fs: getOwnFolder(), mountPoint: `${fixture.folder}/free` }],
      ['serve/start', { type: 'http', fs: getOwnFolder() }],
      ['pluginsctl/addPlugin', { url: 'https://example.org' }],
      ['rc/panic', {}],
      ['rc/fatal', {}],
      ['core/quit', {}],
      ['config/setpath', { path: '/etc/passwd' }],
    ] as const) {
      const { status, body } = await fixture.call(path, input);
      expect(path === 'job/batch' ? body.results[0].status : status, `${path} ${JSON.stringify(input)}`).toBe(403);
    }
    expect(existsSync(mark)).toBe(false);
    expect(existsSync(join(fixture.folder, 'y'))).toBe(false);
  });

  it('contains no credentials in responses, the log or metrics', async () => {
    const secret = 'hunter2-hunter2';
    await fixture.call('config/create', {
      name: 'dav',
      type: 'webdav',
      parameters: { url: 'http://127.0.0.1:1', pass: secret },
      opt: { obscure: true },
    });
    const bad = await fixture.call('config/create', { name: '?', type: 'webdav', parameters: { pass: secret } });
    expect(bad.status).not.toBe(200);
    await fixture.call('sync/copy', {
      srcFs: `:webdav,url="http://127.0.0.1:1",pass="${secret}":/x`,
      dstFs: `${fixture.folder}/z`,
      _async: true,
    });
    const responses = [
      bad.body,
      (await fixture.call('config/get', { name: 'dav' })).body,
      (await fixture.call('config/dump')).body,
      (await fixture.call('options/get')).body,
      await fixture.api('GET', '/api/sync/jobs?limit=200').catch(() => ''),
      fixture.host.log,
    ];
    const text = JSON.stringify(responses);
    expect(text).not.toContain(secret);
    expect(text).not.toMatch(/"BasicPass":"(?!XXX)[^"]+"/);
    expect((await fixture.call('config/get', { name: 'dav' })).body.pass).toBe('XXX');
    // Writing back a masked value changes nothing.
    await fixture.call('config/update', { name: 'dav', parameters: { pass: 'XXX', vendor: 'other' } });
    expect((await fixture.call('config/get', { name: 'dav' })).body).toMatchObject({ pass: 'XXX', vendor: 'other' });
  });
});
