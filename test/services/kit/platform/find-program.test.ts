import promises from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { findProgram } from '../../../../services/kit/platform/find-program.ts';
import { joinFileName, listPathFolders } from '../../../../services/kit/platform/path-rules.ts';
import { replaceBuiltin } from '../../../support/replace-builtin.ts';

/** Simulates a system with these programs only. */
function createFiles(...programs: readonly string[]): Disposable {
  const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' });
  const access = ((path: string) =>
    programs.includes(path) ? Promise.resolve() : Promise.reject(missing)) as typeof promises.access;
  const stat = (() => Promise.resolve({ isFile: () => true })) as unknown as typeof promises.stat;
  return replaceBuiltin(promises, { access, stat });
}

describe('folders of the PATH', () => {
  it.each([
    ['linux', { PATH: '/usr/bin:bin::/opt/a b:C:\\tools' }, ['/usr/bin', '/opt/a b']],
    ['darwin', { PATH: '/usr/bin:/sbin', Path: '/other' }, ['/usr/bin', '/sbin']],
    [
      'win32',
      { Path: 'C:\\Windows;tools;;D:/git/cmd;\\\\nas\\tools' },
      ['C:\\Windows', 'D:/git/cmd', '\\\\nas\\tools'],
    ],
    ['win32', { PATH: '"C:\\Program Files\\Git\\cmd";C:\\x' }, ['C:\\Program Files\\Git\\cmd', 'C:\\x']],
    ['linux', {}, []],
    ['win32', {}, []],
  ] as const)('are listed on %s for %o', (platform, environment, folders) => {
    expect(listPathFolders(platform, environment)).toEqual(folders);
  });
});

describe('path of a file in a folder', () => {
  it.each([
    ['linux', '/', '/git'],
    ['darwin', '/opt/bin/', '/opt/bin/git'],
    ['win32', 'C:\\tools', 'C:\\tools\\git'],
    ['win32', 'C:\\', 'C:\\git'],
    ['win32', 'C:/tools/', 'C:/tools/git'],
    ['win32', '//nas/tools', '//nas/tools/git'],
    ['win32', 'C:/tools\\bin', 'C:\\tools\\bin\\git'],
  ] as const)('has on %s in %s the form %s', (platform, folder, path) => {
    expect(joinFileName(folder, 'git', platform)).toBe(path);
  });
});

describe('findProgram', () => {
  it.each([
    ['linux', { PATH: '/a:/b' }, '/b/git'],
    ['darwin', { PATH: '/a:/b' }, '/b/git'],
    ['win32', { Path: 'C:\\a;D:\\b' }, 'D:\\b\\git.exe'],
  ] as const)('searches the PATH on %s in its notation', async (platform, environment, path) => {
    using _files = createFiles(path);
    expect(await findProgram('git', { platform, environment })).toBe(path);
  });

  it.each([
    ['linux', {}, '/usr/local/bin/git'],
    ['darwin', {}, '/opt/homebrew/bin/git'],
    ['win32', { ProgramFiles: 'E:\\Programs' }, 'E:\\Programs\\Git\\cmd\\git.exe'],
  ] as const)('searches the usual folders of %s after the PATH', async (platform, environment, path) => {
    using _files = createFiles(path);
    expect(await findProgram('git', { platform, environment })).toBe(path);
  });

  it('continues after a program that is not accepted, and is undefined without any', async () => {
    using _files = createFiles('/a/git', '/b/git');
    const environment = { PATH: '/a:/b' };
    const find = (accepts: (path: string) => Promise<boolean>) =>
      findProgram('git', { platform: 'linux', environment, accepts });
    expect(await find((path) => Promise.resolve(path !== '/a/git'))).toBe('/b/git');
    expect(await find(() => Promise.resolve(false))).toBeUndefined();
  });
});
