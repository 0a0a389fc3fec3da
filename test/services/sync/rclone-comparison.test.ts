import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/host.ts';
import { lacksRclone, openSyncRoom, rclonePath, type SyncRoom } from './sync-fixture.ts';
import { tree } from './trees.ts';

/** Calls that no recorded exchange holds, in an order in which each finds what it needs; `@` is the folder of either side. */
const steps: readonly (readonly [path: string, input: object])[] = [
  ['rc/noopauth', { a: '1', b: [2] }],
  ['core/gc', {}],
  ['sync/move', { srcFs: '@/move', dstFs: '@/moved', deleteEmptySrcDirs: true }],
  ['sync/move', { srcFs: '@/nothing', dstFs: '@/moved' }],
  ['operations/movefile', { srcFs: '@/moved', srcRemote: 'a', dstFs: '@/moved', dstRemote: 'deep/b' }],
  ['operations/movefile', { srcFs: '@/moved', srcRemote: 'a', dstFs: '@/moved', dstRemote: 'b' }],
  ['operations/hashsum', { fs: '@/moved', hashType: 'md5' }],
  ['operations/hashsum', { fs: '@/moved', hashType: 'nosuch' }],
  ['operations/mkdir', { fs: '@/moved', remote: 'empty/er' }],
  ['operations/rmdirs', { fs: '@/moved', remote: 'empty', leaveRoot: true }],
  ['operations/list', { fs: '@/moved', remote: '', opt: { recurse: true, noModTime: true } }],
  ['operations/delete', { fs: '@/moved', _filter: { IncludeRule: ['b'] } }],
  ['operations/delete', { fs: '@/moved', rmdirs: true }],
  ['operations/cleanup', { fs: '@/moved' }],
  ['operations/stat', { fs: '@/moved', remote: 'deep/b' }],
  ['config/create', { name: 'dav', type: 'webdav', parameters: { url: 'http://127.0.0.1:1' } }],
  ['config/password', { name: 'dav', parameters: { pass: 'open sesame' } }],
  ['config/password', { parameters: {} }],
  ['config/update', { name: 'dav', parameters: { vendor: 'other', user: 'me' } }],
  ['config/unset', { name: 'dav', keys: ['user', 'vendor'] }],
  ['config/unset', { name: 'dav' }],
  ['config/get', { name: 'dav' }],
  ['config/listremotes', {}],
  ['config/delete', { name: 'dav' }],
  ['config/listremotes', {}],
  ['options/blocks', {}],
  ['options/set', { main: { Transfers: 7 } }],
  ['options/local', { _config: { Checkers: 3 } }],
  ['options/get', {}],
  ['options/info', { blocks: 'filter' }],
  ['config/providers', {}],
];
/** Long: that they are the same is told without printing all of it. */
const long = new Set(['config/providers', 'options/info', 'options/get', 'options/local']);
/** What rclone was started with differs, and so do secrets, which we do not tell. */
const differs =
  /^(?:rc|log|Groups|_pass|password|pass|Pass|BasicPass|HtPasswd|Time|StatsInterval|Stats|LogLevel|CacheDir|BwLimit|AskPassword|LogFormat|UseJSONLog)$/;

function comparable(value: unknown, folder: string): unknown {
  const text = JSON.stringify(value, (key, part: unknown) => {
    if (differs.test(key)) return '(differs)';
    // Most lists are in no order.
    if (!Array.isArray(part)) return part;
    return part.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  });
  return JSON.parse(text.replaceAll(folder, '@').replace(/"[^"]*(?=\/\.cache\/rclone\/)/g, '"@'));
}

/** Around the place where they part. */
function firstDifference(one: unknown, other: unknown): string {
  const [here, there] = [JSON.stringify(one), JSON.stringify(other)];
  const at = [...here].findIndex((letter, index) => letter !== there[index]);
  return `: ${here.slice(Math.max(0, at - 80), at + 80)} | ${there.slice(Math.max(0, at - 80), at + 80)}`;
}

describe.skipIf(lacksRclone)('the most frequent calls compared with rclone rcd', () => {
  let ours: SyncRoom;
  let theirs: SyncRoom;
  let plain: ChildProcess;
  let plainUrl = '';

  beforeAll(async () => {
    [ours, theirs] = await Promise.all([openSyncRoom(), openSyncRoom()]);
    for (const room of [ours, theirs]) room.write({ 'move/a': 'a', 'move/below/c': 'c' });
    plain = spawn(
      rclonePath ?? '',
      ['rcd', '--rc-addr', '127.0.0.1:0', '--rc-no-auth', '--config', join(theirs.folder, '../plain.conf')],
      { env: { PATH: process.env['PATH'], HOME: theirs.folder }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let said = '';
    while (plainUrl === '') {
      const [chunk] = (await once(plain.stderr ?? plain, 'data')) as [Buffer];
      said += chunk.toString();
      plainUrl = /Serving remote control on (http:\/\/127\.0\.0\.1:\d+)\//.exec(said)?.[1] ?? '';
    }
  });
  afterAll(async () => {
    plain.kill();
    await Promise.all([ours[Symbol.asyncDispose](), theirs[Symbol.asyncDispose]()]);
  });

  const ask = async (room: SyncRoom, [path, input]: readonly [string, object]) => {
    const signIn =
      room === ours ? ['--url', room.url, '--user', admin.name, '--pass', admin.password] : ['--url', plainUrl];
    const json = JSON.stringify(input).replaceAll('@', room.folder);
    const client = spawn(rclonePath ?? '', ['rc', ...signIn, path, '--json', json], {
      env: { PATH: process.env['PATH'], HOME: theirs.folder, RCLONE_CONFIG: '/notfound' },
    });
    let out = '';
    client.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    client.stderr.resume();
    const [code] = (await once(client, 'close')) as [number];
    const body: any = comparable(JSON.parse(out), room.folder);
    // The other groups are about servers that we do not run, and hold secrets.
    return { code, body: path === 'options/get' ? [body.main, body.filter] : body };
  };

  it('answers identically in sequence and leaves identical files', async () => {
    for (const step of steps) {
      const [here, there] = [await ask(ours, step), await ask(theirs, step)];
      const said = `${step[0]} ${JSON.stringify(step[1])}`;
      if (long.has(step[0]))
        expect(JSON.stringify(here) === JSON.stringify(there), said + firstDifference(here, there)).toBe(true);
      else expect(here, said).toEqual(there);
    }
    expect(tree(join(ours.folder, 'moved'))).toEqual({});
    expect(tree(join(ours.folder, 'move'))).toEqual({});
  });
});
