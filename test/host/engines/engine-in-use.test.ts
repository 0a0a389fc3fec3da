import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineFolder } from '../../../main/host/engines/folder.ts';
import { removeTree } from '../../../services/kit/platform/file-replacement.ts';

let root: string;
/** Paths that cannot be removed since a program in them runs. */
let inUse: Set<string>;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'homeport-engines-'));
  inUse = new Set();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function openFolder(platform: NodeJS.Platform): EngineFolder {
  const removeFolder = async (path: string): Promise<void> => {
    if ([...inUse].some((each) => each.startsWith(path))) throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' });
    await removeTree(path);
  };
  return new EngineFolder(root, 'rclone', { platform, removeFolder });
}

async function install(folder: EngineFolder, version: string): Promise<string> {
  const staged = await folder.stage();
  for (const name of ['rclone', 'rclone.exe']) writeFileSync(join(staged, name), '');
  const path = join(await folder.publish(staged, version), '..');
  // Folders that no version names are preserved for an hour.
  utimesSync(path, 0, 0);
  return path;
}

const listVersions = (): readonly string[] =>
  readdirSync(join(root, 'rclone')).map((name) => name.replace(/-[0-9a-f]{8}$/, ''));

describe('engine in use on Windows', () => {
  it('does not prevent an update, and is removed at a later one', async () => {
    const folder = openFolder('win32');
    inUse.add(await install(folder, '1'));
    await install(folder, '2');
    await install(folder, '3');
    expect(listVersions()).toEqual(expect.arrayContaining(['1', '2', '3', 'current']));
    inUse.clear();
    await folder.clean();
    expect(listVersions().toSorted()).toEqual(['2', '3', 'current']);
  });

  it('is no longer installed after its removal', async () => {
    const folder = openFolder('win32');
    inUse.add(await install(folder, '1'));
    await install(folder, '2');
    await folder.remove();
    expect(await folder.installed()).toEqual([]);
    expect(listVersions()).toEqual(['1']);
    inUse.clear();
    await folder.clean();
    expect(listVersions()).toEqual([]);
  });
});

describe('engine that cannot be removed on Linux', () => {
  it('is reported', async () => {
    const folder = openFolder('linux');
    inUse.add(await install(folder, '1'));
    await expect(folder.remove()).rejects.toThrow('EBUSY');
  });
});

describe('removed engine', () => {
  it.each(['linux', 'darwin', 'win32'] as const)('leaves nothing behind on %s', async (platform) => {
    mkdirSync(root, { recursive: true });
    const folder = openFolder(platform);
    await install(folder, '1');
    await folder.remove();
    expect(readdirSync(root)).toEqual([]);
  });
});
