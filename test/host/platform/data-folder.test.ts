import { describe, expect, it } from 'vitest';
import { autostartFile } from '../../../main/host/platform/autostart.ts';
import { getDataDir } from '../../../main/host/platform/data-folder.ts';
import promises from 'node:fs/promises';
import { replaceBuiltin } from '../../support/replace-builtin.ts';

describe('getDataDir', () => {
  it.each([
    ['linux', undefined, {}, '/home/ada', '/home/ada/.local/share/homeport'],
    ['linux', undefined, { XDG_DATA_HOME: '/data' }, '/home/ada', '/data/homeport'],
    ['linux', undefined, { XDG_DATA_HOME: 'data' }, '/home/ada', '/home/ada/.local/share/homeport'],
    ['linux', undefined, { LOCALAPPDATA: 'C:\\x' }, '/home/ada', '/home/ada/.local/share/homeport'],
    ['darwin', undefined, { XDG_DATA_HOME: '/data' }, '/Users/ada', '/Users/ada/Library/Application Support/homeport'],
    ['win32', undefined, {}, 'C:\\Users\\Jane Doe', 'C:\\Users\\Jane Doe\\AppData\\Local\\homeport'],
    ['win32', undefined, { LOCALAPPDATA: 'D:\\Local' }, 'C:\\Users\\ada', 'D:\\Local\\homeport'],
    ['win32', undefined, { LOCALAPPDATA: ' ' }, 'C:\\Users\\ada', 'C:\\Users\\ada\\AppData\\Local\\homeport'],
    ['win32', undefined, { HOMEPORT_DATA_DIR: '//nas/homeport/' }, 'C:\\Users\\ada', '\\\\nas\\homeport\\'],
    ['win32', 'E:/homeport', { HOMEPORT_DATA_DIR: 'D:\\x' }, 'C:\\Users\\ada', 'E:\\homeport'],
    ['linux', '/flag', { HOMEPORT_DATA_DIR: '/variable' }, '/home/ada', '/flag'],
    ['darwin', undefined, { HOMEPORT_DATA_DIR: '/Volumes/Disk/x' }, '/Users/ada', '/Volumes/Disk/x'],
  ] as const)('returns on %s for flag %s and variables %o the folder of %s', (platform, flag, variables, home, dir) => {
    expect(getDataDir(flag, variables, platform, home)).toBe(dir);
  });
});

describe('autostartFile', () => {
  it.each([
    ['linux', {}, '/home/ada', '/home/ada/.config/autostart/homeport.desktop'],
    ['linux', { XDG_CONFIG_HOME: '/config' }, '/home/ada', '/config/autostart/homeport.desktop'],
    ['linux', { XDG_CONFIG_HOME: 'config' }, '/home/ada', '/home/ada/.config/autostart/homeport.desktop'],
    ['win32', {}, 'C:\\Users\\ada', 'C:\\Users\\ada\\.config\\autostart\\homeport.desktop'],
  ] as const)('writes on %s with variables %o and home %s the file %s', async (platform, variables, home, file) => {
    const files: string[] = [];
    const writeFile = ((path: string) => Promise.resolve(void files.push(path))) as typeof promises.writeFile;
    const mkdir = (() => Promise.resolve()) as unknown as typeof promises.mkdir;
    using _files = replaceBuiltin(promises, { writeFile, mkdir });
    await autostartFile(variables, ['homeport'], platform, home).set(true);
    expect(files).toEqual([file]);
  });
});
