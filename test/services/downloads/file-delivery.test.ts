import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliver, removeCopies, type Delivery } from '../../../services/downloads/files/file-delivery.ts';
import { replaceBuiltin } from '../../support/replace-builtin.ts';

let folder: string;
let targetFolder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deliver-'));
  // Uses another file system if one is available.
  targetFolder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'deliver-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  rmSync(targetFolder, { recursive: true });
});

function job(uid: string, files: Readonly<Record<string, string>>, root: string): Delivery {
  const from = join(folder, uid);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(from, name, '..'), { recursive: true });
    writeFileSync(join(from, name), text);
  }
  return { from, to: root, root, uid, main: join(from, Object.keys(files)[0] ?? '') };
}

describe.each(['the same file system', 'another one'])('a delivery to %s', (fileSystem) => {
  const root = (): string => join(fileSystem === 'another one' ? targetFolder : folder, 'downloads');

  it('recognizes a delivery that a crash interrupted before it was stored', async () => {
    const delivery = job('a', { 'v.mp4': 'one' }, root());
    const { path } = await deliver(delivery);
    const secondDelivery = await deliver(delivery);
    expect(secondDelivery.path).toBe(path);
    // The crash happened after the record was stored: the next start removes the rest.
    await removeCopies(path, 'a');
    expect(readdirSync(root())).toEqual(['v.mp4']);
    expect(readFileSync(path, 'utf8')).toBe('one');
  });

  it('never overwrites a file, even with many concurrent deliveries', async () => {
    const uids = ['a', 'b', 'c', 'd'];
    const done = await Promise.all(uids.map(async (uid) => await deliver(job(uid, { 'v.mp4': uid }, root()))));
    await Promise.all(done.map(async ({ settle }) => await settle()));
    expect(readdirSync(root()).toSorted()).toEqual(['v (2).mp4', 'v (3).mp4', 'v (4).mp4', 'v.mp4']);
    expect(done.map(({ path }) => readFileSync(path, 'utf8'))).toEqual(uids);
  });

  it('moves companion files and subfolders as well', async () => {
    const { path, settle } = await deliver(job('a', { 'List/v.mp4': 'v', 'List/v.en.srt': 's' }, root()));
    await settle();
    expect(path).toBe(join(root(), 'List', 'v.mp4'));
    expect(readdirSync(join(root(), 'List')).toSorted()).toEqual(['v.en.srt', 'v.mp4']);
  });

  it('refuses a folder that a link leads out of the root', async () => {
    mkdirSync(root());
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(root(), 'List'));
    await expect(deliver(job('a', { 'List/v.mp4': 'v' }, root()))).rejects.toMatchObject({ code: 'downloads.outside' });
    expect(readdirSync(outside)).toEqual([]);
  });
});

it('fails without a file', async () => {
  await expect(deliver(job('a', {}, join(folder, 'downloads')))).rejects.toMatchObject({ code: 'downloads.nothing' });
});

describe('a file system without hard links', () => {
  // Windows reports EISDIR for FAT32 and exFAT, macOS ENOTSUP.
  it.each(['EISDIR', 'ENOTSUP', 'EPERM', 'ENOSYS', 'EMLINK'])(
    'receives files although links fail with %s',
    async (code) => {
      const link = (): Promise<void> => Promise.reject(Object.assign(new Error(code), { code }));
      using _links = replaceBuiltin(promises, { link });
      const root = join(folder, 'downloads');
      const deliveries = [
        await deliver(job('a', { 'v.mp4': 'one' }, root)),
        await deliver(job('b', { 'v.mp4': 'two' }, root)),
      ];
      for (const { settle } of deliveries) await settle();
      expect(deliveries.map(({ path }) => readFileSync(path, 'utf8'))).toEqual(['one', 'two']);
      expect(readdirSync(root).toSorted()).toEqual(['v (2).mp4', 'v.mp4']);
    },
  );
});

describe('numbers of files', () => {
  /** Replaces the numbers that the file system reports. */
  function replaceNumbers(toNumber: (ino: bigint) => bigint): Disposable {
    const { stat, lstat } = promises;
    const replace = (read: typeof stat | typeof lstat): typeof stat =>
      (async (path: string, options?: { bigint?: boolean }) => {
        const stats = await read(path, { bigint: true });
        const ino = toNumber(stats.ino);
        return options?.bigint === true ? Object.assign(stats, { ino }) : { ...(await read(path)), ino: Number(ino) };
      }) as typeof stat;
    return replaceBuiltin(promises, { stat: replace(stat), lstat: replace(lstat) });
  }

  const numbers: bigint[] = [];
  it.each([
    [
      'differ only beyond the precision of a double, as on Windows',
      (ino: bigint) => {
        if (!numbers.includes(ino)) numbers.push(ino);
        return 2n ** 53n + BigInt(numbers.indexOf(ino));
      },
    ],
    ['are zero, as on some network file systems', () => 0n],
  ] as const)('do not identify two files as one when they %s', async (_name, toNumber) => {
    const root = join(folder, 'downloads');
    const first = await deliver(job('a', { 'v.mp4': 'one' }, root));
    await first.settle();
    using _numbers = replaceNumbers(toNumber);
    const second = await deliver(job('b', { 'v.mp4': 'two' }, root));
    expect([readFileSync(first.path, 'utf8'), readFileSync(second.path, 'utf8')]).toEqual(['one', 'two']);
  });
});
