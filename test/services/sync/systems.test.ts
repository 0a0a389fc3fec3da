import * as m from '#messages/sync-causes';
import { readText } from '../../../services/contracts/text.ts';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import dns from 'node:dns/promises';
import promises from 'node:fs/promises';
import os, { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Permission } from '../../../services/contracts/control/accounts.ts';
import { Access } from '../../../services/sync/access/access.ts';
import { isOwnShare } from '../../../services/sync/access/own-shares.ts';
import { getProtectedFolderHint } from '../../../services/contracts/macos-privacy.ts';
import { explainFailure, findExplanation } from '../../../services/sync/domain/failure-cause.ts';
import { CallError } from '../../../services/sync/access/call-error.ts';
import { browse } from '../../../services/sync/app-api/browse.ts';
import {
  hasDotSegments,
  normalizeGrantPattern,
  parseLocation,
  toGrantResource,
} from '../../../services/sync/domain/location.ts';
import { getReplacedFilesFolder } from '../../../services/sync/domain/replaced-files.ts';
import { isShareOfThisComputer, normalizeWindowsPath } from '../../../services/sync/domain/windows-path.ts';
import { getCanonicalLocation } from '../../../services/sync/jobs/canonical-location.ts';
import type { ListedEntry } from '../../../services/sync/domain/plan.ts';
import { LocalMover } from '../../../services/sync/tasks/local-mover.ts';
import { getTimePrecision } from '../../../services/sync/tasks/time-precision.ts';
import { replaceBuiltin } from '../../support/replace-builtin.ts';

const { signal } = new AbortController();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-sync-systems-'));
  mkdirSync(join(folder, 'from'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('location on Windows', () => {
  it.each([
    ['C:\\Users\\Jane Doe', 'C:/Users/Jane Doe'],
    ['c:/Users//Jane Doe/', 'C:/Users/Jane Doe'],
    ['\\\\?\\c:\\Users\\Jane Doe.', 'C:/Users/Jane Doe'],
    ['c:\\', 'C:/'],
    ['\\\\NAS\\Photos', '//nas/Photos'],
    ['//nas/Photos/2026\\', '//nas/Photos/2026'],
    ['\\\\?\\UNC\\nas\\Photos\\2026', '//nas/Photos/2026'],
    ['\\\\.\\c:\\Users', 'C:/Users'],
    ['//?/c:/Users', 'C:/Users'],
    ['//./C:/Users. /Jane Doe...', 'C:/Users/Jane Doe'],
    ['\\\\.\\unc\\nas\\Photos', '//nas/Photos'],
    ['//NAS./Photos ./2026', '//nas/Photos/2026'],
  ])('has one spelling for %s', (text, path) => {
    expect(parseLocation(text, true)).toEqual({ kind: 'local', path });
    const resource = `${path.replace(/\/$/, '')}/`.toLowerCase();
    expect(toGrantResource({ kind: 'local', path: text }, 'win32')).toBe(resource);
    expect(normalizeGrantPattern(`${path.replace(/\/$/, '').replaceAll('/', '\\')}\\*`, 'win32')).toBe(`${resource}*`);
  });

  it.each([
    'C:',
    'C:folder',
    '\\folder',
    '/folder',
    '\\\\nas',
    '\\\\.\\PhysicalDrive0',
    '\\\\?\\Volume{1}\\x',
    'C:\\a:b',
    'C:\\a\\secret.txt::$DATA',
    'C:\\a::$INDEX_ALLOCATION\\b',
    '\\\\nas\\photos\\a.jpg::$DATA',
    '\\\\?\\C:\\a\\secret.txt::$DATA',
    '\\??\\C:\\Users',
    '\\\\?\\GLOBALROOT\\Device\\HarddiskVolume1\\Users',
    '\\\\.\\UNC\\nas',
    '//./C:',
    'C:\\a\\...\\b',
  ])('is not a folder for %s', (text) => expect(parseLocation(text, true)).toEqual({ kind: 'inline' }));

  it('keeps remotes, and leaves `..` for the check that refuses it', () => {
    expect(parseLocation('drive:a/b', true)).toEqual({ kind: 'remote', name: 'drive', path: 'a/b' });
    const parent = parseLocation('C:\\Users\\..\\Windows', true);
    expect(parent.kind === 'local' && hasDotSegments(parent.path)).toBe(true);
    expect(parseLocation('C:\\', false)).toEqual({ kind: 'remote', name: 'C', path: '\\' });
  });

  it('puts replaced files beside the destination, also in a network folder', () => {
    expect(getReplacedFilesFolder('\\\\nas\\backup\\photos', 7, true)).toBe('//nas/backup/.photos.replaced/7');
    expect(getReplacedFilesFolder('\\\\nas\\backup', 7, true)).toBeUndefined();
    expect(getReplacedFilesFolder('c:\\photos', 7, true)).toBe('C:/.photos.replaced/7');
    expect(getReplacedFilesFolder('c:\\', 7, true)).toBeUndefined();
  });

  it('is locked once for all spellings of a folder', async () => {
    const engine = { call: () => Promise.reject(new Error('not needed')) };
    const lock = (text: string): Promise<string> => getCanonicalLocation(engine, text, signal, 'win32');
    expect(await lock('c:\\Photos\\')).toBe(await lock('C:/photos'));
    expect(await lock('\\\\NAS\\Photos')).toBe(await lock('//nas/photos/'));
    // The engine reports local folders with the prefix of long paths.
    const local = { status: 200, body: { Name: 'local', Root: '//?/C:/Photos', Features: { IsLocal: true } } };
    expect(await getCanonicalLocation({ call: () => Promise.resolve(local) }, 'alias:', signal, 'win32')).toBe(
      await lock('C:\\Photos'),
    );
  });

  it('is not reached by limited accounts through shares of the same computer', () => {
    const names = ['DESKTOP-1.home.arpa', '192.168.1.5'];
    for (const server of [
      'localhost',
      '127.0.0.1',
      '192.168.1.5',
      'desktop-1',
      'desktop-1.local',
      '0--1.ipv6-literal.net',
    ])
      expect([server, isShareOfThisComputer(`//${server}/data`, names)]).toEqual([server, true]);
    expect(isShareOfThisComputer('//nas/c$/Users', names)).toBe(true);
    expect(isShareOfThisComputer('//nas/photos', names)).toBe(false);
    expect(isShareOfThisComputer('//192.168.1.50/photos', names)).toBe(false);
    expect(isShareOfThisComputer('C:/Users', names)).toBe(false);
  });
});

describe('check for shares of this computer', () => {
  const names = ['DESKTOP-1.home.arpa', '192.168.1.5', 'FE80::1'];

  it.each([
    '\\\\localhost\\C$\\Users',
    '\\\\127.0.0.1\\C$',
    '\\\\?\\UNC\\LOCALHOST\\data',
    '\\\\.\\UNC\\localhost\\data',
    '//localhost./data',
    '//localhost /data',
    '//localhost.localdomain/data',
    '//localhost@8080/data',
    '//localhost@SSL@8443/DavWWWRoot/data',
    '//127.1/data',
    '//127.255.0.1/data',
    '//2130706433/data',
    '//0x7f000001/data',
    '//0177.0.0.1/data',
    '//0.0.0.0/data',
    '//0/data',
    '//192.168.1.5./data',
    '//192.168.261/data',
    '//3232235781/data',
    '//Desktop-1/data',
    '//DESKTOP-1./data',
    '//desktop-1.local/data',
    '//desktop-1.home.arpa./data',
    '//nas/c$ /Users',
    '//nas/ADMIN$./Users',
    '//0--1.ipv6-literal.net./data',
  ])('recognizes %s', (text) => {
    const path = normalizeWindowsPath(text);
    expect([path, isShareOfThisComputer(path ?? '', names)]).toEqual([path, true]);
  });

  it.each(['//nas/photos', '//192.168.1.50/photos', '//desktop-11/data', '//localhosts/data'])(
    'accepts %s of another computer',
    (text) => {
      const path = normalizeWindowsPath(text) ?? '';
      expect([path !== '', isShareOfThisComputer(path, names)]).toEqual([true, false]);
    },
  );

  it('recognizes other names that the network has for this computer', async () => {
    const addresses: Record<string, string> = { alias: '192.168.1.5', nas: '192.168.1.6' };
    const lookup = ((name: string) =>
      addresses[name] === undefined
        ? Promise.reject(new Error('ENOTFOUND'))
        : Promise.resolve([{ address: addresses[name], family: 4 }])) as unknown as typeof dns.lookup;
    const networkInterfaces = (() => ({ lan: [{ address: '192.168.1.5' }] })) as unknown as typeof os.networkInterfaces;
    using _names = replaceBuiltin(dns, { lookup });
    using _addresses = replaceBuiltin(os, { networkInterfaces });
    expect(await isOwnShare('//alias/photos')).toBe(true);
    expect(await isOwnShare('//nas/photos')).toBe(false);
    expect(await isOwnShare('//unknown/photos')).toBe(false);
    expect(await isOwnShare('C:/Users')).toBe(false);
  });
});

describe('access of a limited account on Windows', () => {
  const grant = (resource: string, permission: Permission) => ({ service: 'sync', resource, permission });

  /** Opens the rules with these grants; `longNames` are the real paths of other spellings. */
  function openAccess(grants: readonly ReturnType<typeof grant>[], longNames: Record<string, string> = {}) {
    const resolved: string[] = [];
    const realpath = ((path: string) => {
      resolved.push(path);
      const entry = Object.entries(longNames).find(([name]) => path.toLowerCase().startsWith(name.toLowerCase()));
      return Promise.resolve(entry === undefined ? path : entry[1] + path.slice(entry[0].length));
    }) as unknown as typeof promises.realpath;
    const builtins = replaceBuiltin(promises, { realpath });
    const lookup = (() => Promise.reject(new Error('ENOTFOUND'))) as unknown as typeof dns.lookup;
    const names = replaceBuiltin(dns, { lookup });
    const accounts = { find: (name: string) => Promise.resolve(name === 'ada' ? { role: 'user', grants } : undefined) };
    const access = new Access(
      { accounts, files: folder } as unknown as ConstructorParameters<typeof Access>[0],
      'win32',
    );
    return {
      resolved,
      mayRead: (text: string): Promise<boolean> =>
        access.checkLocation({ account: 'ada', all: false }, text, 'read').then(
          () => true,
          () => false,
        ),
      [Symbol.dispose]() {
        names[Symbol.dispose]();
        builtins[Symbol.dispose]();
      },
    };
  }

  it.each([
    'C:\\Data\\Private',
    'c:/data/PRIVATE/',
    '\\\\?\\C:\\Data\\Private',
    '\\\\.\\C:\\Data\\Private\\x',
    '//?/c:/data/private',
    'C:\\Data.\\Private. .',
    'C:\\Data\\PRIVAT~1\\x',
    'C:\\Data\\Private::$INDEX_ALLOCATION',
    'C:\\Data\\Private\\a.txt::$DATA',
    '\\\\localhost\\C$\\Data\\Private',
    '\\\\127.0.0.1\\Data\\Private',
  ])('refuses the denied folder as %s', async (text) => {
    const longNames = { 'C:/Data/PRIVAT~1': 'C:\\Data\\Private' };
    using access = openAccess([grant('*', 'read'), grant('C:/Data/Private/*', 'none')], longNames);
    expect(await access.mayRead(text)).toBe(false);
    expect(await access.mayRead('C:\\Data\\Public')).toBe(true);
  });

  it.each([
    'c:\\data\\private\\*',
    '\\\\?\\C:\\Data\\Private\\*',
    '\\\\.\\C:\\Data\\Private\\*',
    '//?/C:/Data/Private/*',
    'C:\\\\Data\\Private.\\*',
    'C:\\Data\\Private \\*',
    'C:\\Data\\PRIVAT~1\\*',
    'C:\\D*\\Private.\\*',
  ])('refuses the folder that an administrator denied as %s', async (pattern) => {
    const longNames = { 'C:/Data/PRIVAT~1': 'C:\\Data\\Private' };
    using access = openAccess([grant('*', 'read'), grant(pattern, 'none')], longNames);
    expect(await access.mayRead('C:\\Data\\Private\\x')).toBe(false);
  });

  it('does not contact the server of a network folder without a grant', async () => {
    using access = openAccess([grant('//nas/photos/*', 'read')]);
    expect(await access.mayRead('\\\\evil.example\\photos')).toBe(false);
    expect(access.resolved).toEqual([]);
    expect(await access.mayRead('\\\\NAS\\Photos\\2026')).toBe(true);
  });
});

describe('grants', () => {
  it('matches folders in any case where the file system ignores it', () => {
    const path = '/Users/ada/Photos';
    expect(toGrantResource({ kind: 'local', path }, 'darwin')).toBe('/users/ada/photos/');
    expect(normalizeGrantPattern('/Users/ADA/Photos/*', 'darwin')).toBe('/users/ada/photos/*');
    expect(toGrantResource({ kind: 'local', path }, 'linux')).toBe(`${path}/`);
    expect(normalizeGrantPattern(`${path}/*`, 'linux')).toBe(`${path}/*`);
  });

  it.each(['linux', 'darwin', 'win32'] as const)('keeps the case of remotes on %s', (platform) => {
    expect(toGrantResource({ kind: 'remote', name: 'Drive', path: 'A' }, platform)).toBe('Drive:A/');
    for (const pattern of ['Drive:A/*', '*']) expect(normalizeGrantPattern(pattern, platform)).toBe(pattern);
  });
});

describe('precision of file times', () => {
  const list = (...times: number[]): ListedEntry[] =>
    times.map((modifiedAt) => ({ path: 'a', size: 1, modifiedAt, isFolder: false }));

  it.each([
    ['FAT', 0x4d44, list(1), 2000],
    ['exFAT', 0x2011bab0, list(1), 10],
    ['HFS+', 0x482b, list(1), 1000],
    ['ext4', 0xef53, list(2000), 1],
    ['SMB with times of FAT', 0xfe534d42, list(2000, 4000), 2000],
    ['NFS', 0x6969, list(2000, 4001), 1],
  ])('is known for %s on Linux', async (_name, type, entries, precision) => {
    const statfs = (() => Promise.resolve({ type })) as unknown as typeof promises.statfs;
    using _type = replaceBuiltin(promises, { statfs });
    expect(await getTimePrecision(folder, entries, 'linux')).toBe(precision);
  });

  it.each([
    ['FAT', list(2000, 4000), 2000],
    ['HFS+', list(2000, 3000), 1000],
    ['exFAT', list(2000, 3010), 10],
    ['NTFS and APFS', list(2000, 3011), 1],
    ['an empty folder', list(), 1],
  ])('is estimated for %s on Windows and macOS', async (_name, entries, precision) => {
    for (const platform of ['darwin', 'win32'] as const)
      expect(await getTimePrecision(folder, entries, platform)).toBe(precision);
  });
});

describe('copy to FAT', () => {
  /** Stores times like FAT, which Windows rounds up to even seconds. */
  const utimes: typeof promises.utimes = async (path, _accessed, modified) => {
    const seconds = Math.ceil(new Date(modified).getTime() / 2000) * 2;
    utimesSync(path, seconds, seconds);
    await Promise.resolve();
  };
  const fat = { type: 0x4d44 } as Awaited<ReturnType<typeof promises.statfs>>;
  const statfs = (() => Promise.resolve(fat)) as unknown as typeof promises.statfs;

  it.each(['linux', 'darwin', 'win32'] as const)('copies no unchanged file again on %s', async (platform) => {
    for (let index = 0; index < 20; index++) {
      writeFileSync(join(folder, 'from', String(index)), 'x');
      utimesSync(join(folder, 'from', String(index)), 1_700_000_000 + index / 7, 1_700_000_000 + index / 7);
    }
    using _times = replaceBuiltin(promises, { utimes, ...(platform === 'linux' && { statfs }) });
    const copied: string[] = [];
    const mover = new LocalMover(
      { bytes: () => new Uint8Array(), text: () => 'abcdefgh' },
      (event) => {
        if (event.kind === 'copied') copied.push(event.path);
      },
      platform,
    );
    const copy = () =>
      mover.copy(join(folder, 'from'), join(folder, 'to'), undefined, { group: '', exclude: [], signal });
    await copy();
    expect(copied.splice(0)).toHaveLength(20);
    await copy();
    expect(copied).toEqual([]);
    // A change of more than the precision is copied.
    utimesSync(join(folder, 'from', '3'), 1_700_000_100, 1_700_000_100);
    await copy();
    expect(copied).toEqual(['3']);
  });
});

describe('folder that the privacy settings of macOS protect', () => {
  const messages = { EPERM: 'operation not permitted', EACCES: 'permission denied' };
  const refused = (code: keyof typeof messages): Error =>
    Object.assign(new Error(`${code}: ${messages[code]}, scandir '${folder}'`), { code });
  const explain = (code: keyof typeof messages, platform: NodeJS.Platform): string | undefined =>
    findExplanation({ error: refused(code).message, code: '' }, '', platform);

  it('is reported with the place of the setting', async () => {
    const readdir = (() => Promise.reject(refused('EPERM'))) as unknown as typeof promises.readdir;
    using _read = replaceBuiltin(promises, { readdir });
    const getReason = async (platform: NodeJS.Platform): Promise<string> => {
      const error: unknown = await browse({} as Parameters<typeof browse>[0], folder, platform).catch(
        (each: unknown) => each,
      );
      return error instanceof CallError && error.text !== undefined ? readText(error.text) : '';
    };
    expect(await getReason('darwin')).toBe(`${m.accessDenied({ path: folder })} ${getProtectedFolderHint()}`);
    expect(await getReason('linux')).toBe(m.accessDenied({ path: folder }));
    const mover = new LocalMover({ bytes: () => new Uint8Array(), text: () => '' }, () => undefined, 'darwin');
    const failure: unknown = await mover
      .list(folder, { group: '', exclude: [], signal })
      .catch((each: unknown) => each);
    const error = failure instanceof Error ? failure.message : '';
    expect(explainFailure({ error, code: '' }, '', 'darwin').error).toContain(getProtectedFolderHint());
  });

  it('is not named for other errors and other systems', () => {
    expect(explain('EACCES', 'darwin')).toBe(m.accessDenied({ path: folder }));
    expect(explain('EPERM', 'win32')).not.toContain('macOS');
  });
});
