import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  isPassingFileError,
  moveFolder,
  moveFolderSync,
  removeTree,
  removeTreeSync,
  replaceFile,
  replaceFileSync,
  retryWhileInUse,
  retryWhileInUseSync,
} from '../../../../services/kit/platform/file-replacement.ts';

const platforms = ['linux', 'darwin', 'win32'] as const;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-replacement-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Returns an operation that fails a number of times with a code of the system, and a function with its calls. */
function failing(code: string, times: number) {
  let calls = 0;
  const operation = (): string => {
    calls += 1;
    if (calls <= times) throw Object.assign(new Error(code), { code });
    return 'done';
  };
  return { operation, calls: () => calls };
}

describe('retryWhileInUse', () => {
  it.each([
    ['EPERM', [false, false, true]],
    ['EACCES', [false, false, true]],
    ['EBUSY', [false, false, true]],
    ['ENOENT', [false, false, false]],
    ['ENOSPC', [false, false, false]],
    ['EXDEV', [false, false, false]],
  ] as const)('decides by system whether %s passes', (code, expected) => {
    const error = Object.assign(new Error(code), { code });
    expect(platforms.map((platform) => isPassingFileError(error, platform))).toEqual(expected);
  });

  it('succeeds on Windows once no other program has the file open', async () => {
    const [first, second] = [failing('EBUSY', 3), failing('EPERM', 3)];
    expect(await retryWhileInUse(async () => first.operation(), 'win32')).toBe('done');
    expect(retryWhileInUseSync(second.operation, 'win32')).toBe('done');
    expect([first.calls(), second.calls()]).toEqual([4, 4]);
  });

  it('fails at once for other reasons and on other systems', async () => {
    for (const [code, platform] of [
      ['ENOENT', 'win32'],
      ['EPERM', 'linux'],
      ['EBUSY', 'darwin'],
    ] as const) {
      const { operation, calls } = failing(code, 3);
      await expect(retryWhileInUse(async () => operation(), platform)).rejects.toMatchObject({ code });
      expect(() => retryWhileInUseSync(operation, platform)).toThrow(code);
      expect(calls()).toBe(2);
    }
  });

  it('ends after ten attempts within a few seconds', async () => {
    const { operation, calls } = failing('EACCES', 100);
    const startedAt = performance.now();
    await expect(retryWhileInUse(async () => operation(), 'win32')).rejects.toMatchObject({ code: 'EACCES' });
    expect(calls()).toBe(10);
    expect(performance.now() - startedAt).toBeGreaterThan(1500);
  });
});

describe.each(platforms)('file replacement on %s', (platform) => {
  it('replaces a file', async () => {
    for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, name), name);
    await replaceFile(join(folder, 'b'), join(folder, 'a'), platform);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('b');
    replaceFileSync(join(folder, 'c'), join(folder, 'a'), platform);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('c');
  });

  it('moves and removes a folder with its content', async () => {
    mkdirSync(join(folder, 'a', 'part'), { recursive: true });
    await moveFolder(join(folder, 'a'), join(folder, 'b'), platform);
    moveFolderSync(join(folder, 'b'), join(folder, 'c'), platform);
    expect(existsSync(join(folder, 'c', 'part'))).toBe(true);
    await removeTree(join(folder, 'c'), platform);
    expect(existsSync(join(folder, 'c'))).toBe(false);
    mkdirSync(join(folder, 'd', 'part'), { recursive: true });
    removeTreeSync(join(folder, 'd'), platform);
    expect(existsSync(join(folder, 'd'))).toBe(false);
  });

  it('removes what does not exist, and reports a rename of what does not exist', async () => {
    await removeTree(join(folder, 'nothing'), platform);
    removeTreeSync(join(folder, 'nothing'), platform);
    await expect(replaceFile(join(folder, 'nothing'), join(folder, 'a'), platform)).rejects.toThrow('ENOENT');
  });
});
