import { constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { executableName } from '../../../../services/kit/platform/executables.ts';
import {
  findDescriptorPath,
  getMaxSocketPathBytes,
  getNoFollowFlag,
  hasFileModes,
  hasUnixSockets,
  hasWindowsPaths,
  ignoresCase,
  listProcessFolders,
  syncLeavesDiskCache,
} from '../../../../services/kit/platform/file-systems.ts';
import { childrenEndWithParent, hasProcessGroups, hasSignals } from '../../../../services/kit/platform/process-tree.ts';
import { syncFolder } from '../../../../services/kit/platform/sync-folder.ts';

const platforms = ['linux', 'darwin', 'win32'] as const;

describe('properties of the systems', () => {
  it.each([
    ['executableName', (platform: NodeJS.Platform) => executableName('git', platform), ['git', 'git', 'git.exe']],
    ['hasWindowsPaths', hasWindowsPaths, [false, false, true]],
    ['hasFileModes', hasFileModes, [true, true, false]],
    ['ignoresCase', ignoresCase, [false, true, true]],
    ['hasUnixSockets', hasUnixSockets, [true, true, false]],
    ['getMaxSocketPathBytes', getMaxSocketPathBytes, [107, 103, 0]],
    ['syncLeavesDiskCache', syncLeavesDiskCache, [false, true, false]],
    ['getNoFollowFlag', getNoFollowFlag, [constants.O_NOFOLLOW, constants.O_NOFOLLOW, 0]],
    [
      'findDescriptorPath',
      (platform: NodeJS.Platform) => findDescriptorPath(3, platform),
      ['/proc/self/fd/3', undefined, undefined],
    ],
    ['listProcessFolders', listProcessFolders, [['/proc'], [], []]],
    ['hasProcessGroups', hasProcessGroups, [true, true, false]],
    ['hasSignals', hasSignals, [true, true, false]],
    ['childrenEndWithParent', childrenEndWithParent, [false, false, true]],
  ] as const)('are returned by %s for linux, darwin and win32', (_name, getProperty, expected) => {
    expect(platforms.map((platform) => getProperty(platform))).toEqual(expected);
  });
});

describe('syncFolder', () => {
  it('syncs a folder, and does not open one on Windows', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-sync-'));
    for (const platform of platforms) await syncFolder(folder, platform);
    rmSync(folder, { recursive: true });
    await expect(syncFolder(folder, 'darwin')).rejects.toThrow('ENOENT');
    await syncFolder(folder, 'win32');
  });
});
