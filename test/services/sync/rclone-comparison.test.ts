import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/host.ts';
import { lacksRclone, openSyncFixture, rclonePath, type SyncFixture } from './sync-fixture.ts';
import { tree } from './trees.ts';

/**
 * Calls without a recorded exchange, ordered so that each finds the files that it needs; `@` is the folder of each
 * side.
 */
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
/** Calls with long responses, which are compared without printing them. */
const long = new Set(['config/providers', 'options/info', 'options/get', 'options/local']);
/** Removes startup options, which differ, and secrets, which Homeport does not return. */
const differs = new RegExp(
  '^(?:rc|log|Groups|_pass|password|pass|Pass|BasicPass|HtPasswd|Time|StatsInterval|Stats|LogLevel|CacheDir|BwLimit|' +
    'AskPassword|LogFormat|UseJSONLog)$',
);

function comparable(value: unknown, folder: string): unknown {
  const text = JSON.stringify(value, (key, part: unknown) => {
    if (differs.test(key)) return '(differs)';
    // Most lists are unordered.
    if (!Array.isArray(part)) return part;
    return part.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  });
  return JSON.parse(text.replaceAll(folder, '@').replace(/"[^"]*(?=\/\.cache\/rclone\/)/g, '"@'));
}

/** Prints the text around the first difference. */
function firstDifference(one: unknown, other: unknown): string {
  const [here, there] = [JSON.stringify(one), JSON.stringify(other)];
  const difference = [...here].findIndex((letter, index) => letter !== there[index]);
  return `: ${here.slice(Math.max(0, difference - 80), difference + 80)} | ${there.slice(Math.max(0, difference - 80), difference + 80)}`;
}

describe.skipIf(lacksRclone)('the most frequent calls compared with rclone rcd', () => {
  let homeport: SyncFixture;
  let rclone: SyncFixture;
  let plainRclone: ChildProcess;
  let plainUrl = '';

  beforeAll(async () => {
    [homeport, rclone] = await Promise.all([openSyncFixture(), openSyncFixture()]);
    for (const fixture of [homeport, rclone]) fixture.write({ 'move/a': 'a', 'move/below/c': 'c' });
    plainRclone = spawn(
      rclonePath ?? '',
      ['rcd', '--rc-addr', '127.0.0.1:0', '--rc-no-auth', '--config', join(rclone.folder, '../plain.conf')],
      { env: { PATH: process.env['PATH'], HOME: rclone.folder }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let output = '';
    while (plainUrl === '') {
      const [chunk] = (await once(plainRclone.stderr ?? plainRclone, 'data')) as [Buffer];
      output += chunk.toString();
      plainUrl = /Serving remote control on (http:\/\/127\.0\.0\.1:\d+)\//.exec(output)?.[1] ?? '';
    }
  });
  afterAll(async () => {
    plainRclone.kill();
    await Promise.all([homeport[Symbol.asyncDispose](), rclone[Symbol.asyncDispose]()]);
  });

  const sendRequest = async (fixture: SyncFixture, [path, input]: readonly [string, object]) => {
    const signIn =
      fixture === homeport
        ? ['--url', fixture.url, '--user', admin.name, '--pass', admin.password]
        : ['--url', plainUrl];
    const json = JSON.stringify(input).replaceAll('@', fixture.folder);
    const client = spawn(rclonePath ?? '', ['rc', ...signIn, path, '--json', json], {
      env: { PATH: process.env['PATH'], HOME: rclone.folder, RCLONE_CONFIG: '/notfound' },
    });
    let out = '';
    client.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    client.stderr.resume();
    const [code] = (await once(client, 'close')) as [number];
    const body: any = comparable(JSON.parse(out), fixture.folder);
    // The other groups configure servers that Homeport does not run, and contain secrets.
    return { code, body: path === 'options/get' ? [body.main, body.filter] : body };
  };

  it('answers identically in sequence and leaves identical files', async () => {
    for (const step of steps) {
      const [here, there] = [await sendRequest(homeport, step), await sendRequest(rclone, step)];
      const description = `${step[0]} ${JSON.stringify(step[1])}`;
      if (long.has(step[0]))
        expect(JSON.stringify(here) === JSON.stringify(there), description + firstDifference(here, there)).toBe(true);
      else expect(here, description).toEqual(there);
    }
    expect(tree(join(homeport.folder, 'moved'))).toEqual({});
    expect(tree(join(homeport.folder, 'move'))).toEqual({});
  });
});
