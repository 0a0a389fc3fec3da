import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { restoreBackup } from '../../main/host/backup/restore.ts';
import { readNameRules, RestoredNames, type NameRules } from '../../main/host/backup/restored-names.ts';
import { unpackBackup } from '../../main/host/backup/unpack.ts';
import { writeBackup } from '../../main/host/backup/write.ts';
import { replaceBuiltin } from '../support/replace-builtin.ts';

const linux: NameRules = { ignoresCase: false, windows: false };
const macos: NameRules = { ignoresCase: true, windows: false };
const windows: NameRules = { ignoresCase: true, windows: true };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-names-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function addAll(rules: NameRules, names: readonly string[]): string[] {
  const restored = new RestoredNames(rules);
  return names.map((name) => restored.add(name));
}

describe('RestoredNames', () => {
  it.each([
    ['files that differ by case', ['a/A.txt', 'a/a.txt', 'a/A.TXT'], ['a/A.txt', 'a/a-2.txt', 'a/A-3.TXT']],
    ['a name that is in use', ['a.txt', 'a-2.txt', 'A.txt'], ['a.txt', 'a-2.txt', 'A-3.txt']],
    ['names of other forms of Unicode', ['caf\u00e9', 'cafe\u0301'], ['caf\u00e9', 'cafe\u0301-2']],
    ['folders that differ by case', ['aB/x', 'Ab/y', 'AB/X'], ['aB/x', 'Ab/y', 'AB/X-2']],
    [
      'a folder with the name of a file',
      ['refs/Fix', 'refs/fix/a', 'refs/fix/b'],
      ['refs/Fix', 'refs/fix-2/a', 'refs/fix-2/b'],
    ],
    ['a file with the name of a folder', ['refs/fix/a', 'refs/Fix'], ['refs/fix/a', 'refs/Fix-2']],
    ['names without collision', ['a/b.txt', 'b.txt', 'B/b.txt'], ['a/b.txt', 'b.txt', 'B/b.txt']],
  ])('separates %s on Windows and macOS', (_case, names, expected) => {
    expect(addAll(macos, names)).toEqual(expected);
    expect(addAll(windows, names)).toEqual(expected);
    expect(addAll(linux, names)).toEqual(names);
  });

  it.each([
    ['mail/a:b.txt', 'mail/a_b.txt'],
    ['mail/what?/<x>|"*', 'mail/what_/_x____'],
    ['mail/end. .', 'mail/end___'],
    ['mail/aux.txt', 'mail/_aux.txt'],
    ['CON/x', '_CON/x'],
    ['mail/auxiliary', 'mail/auxiliary'],
  ])('replaces what Windows cannot store in %s', (name, expected) => {
    expect(addAll(windows, [name])).toEqual([expected]);
    expect(addAll(macos, [name])).toEqual([name]);
  });

  it('separates files that have the same name after the replacement', () => {
    expect(addAll(windows, ['a:b', 'a?b', 'a_b'])).toEqual(['a_b', 'a_b-2', 'a_b-3']);
  });
});

describe('readNameRules', () => {
  it.each([true, false])('finds out whether the file system ignores case (%s)', async (ignoresCase) => {
    const access = (() =>
      ignoresCase ? Promise.resolve() : Promise.reject(new Error('ENOENT'))) as typeof promises.access;
    using _access = replaceBuiltin(promises, { access });
    for (const platform of ['linux', 'darwin', 'win32'] as const)
      expect(await readNameRules(folder, platform)).toEqual({ ignoresCase, windows: platform === 'win32' });
    expect(readdirSync(folder)).toEqual([]);
  });
});

async function createArchive(files: Readonly<Record<string, string>>): Promise<string> {
  const data = join(folder, 'data');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(data, dirname(name)), { recursive: true });
    writeFileSync(join(data, name), text);
  }
  const file = join(folder, 'backup.tar.gz');
  await writeBackup(data, file);
  return file;
}

describe('restore of a backup from a system with case', () => {
  it('keeps both files and reports the new name', async () => {
    const file = await createArchive({ 'vault.key': 'key', 'mail/A.txt': 'first', 'mail/a.txt': 'second' });
    const restored = join(folder, 'restored');
    mkdirSync(restored);
    const { renamed } = await restoreBackup(restored, file, { force: false, rules: macos });
    expect(renamed).toHaveLength(1);
    const [{ name, storedAs }] = renamed as [(typeof renamed)[0]];
    const other = name === 'mail/a.txt' ? 'mail/A.txt' : 'mail/a.txt';
    expect(storedAs).toBe(name.replace('.txt', '-2.txt'));
    const read = (path: string): string => readFileSync(join(restored, path), 'utf8');
    expect([read(other), read(storedAs)].sort()).toEqual(['first', 'second']);
    expect(readdirSync(join(restored, 'mail'))).toHaveLength(2);
  });

  it('changes no name where the system has case', async () => {
    const file = await createArchive({ 'vault.key': 'key', 'mail/A.txt': 'first', 'mail/a.txt': 'second' });
    const content = join(folder, 'content');
    mkdirSync(content);
    expect((await unpackBackup(file, content, linux)).renamed).toEqual([]);
    expect(readFileSync(join(content, 'mail', 'A.txt'), 'utf8')).toBe('first');
    expect(readFileSync(join(content, 'mail', 'a.txt'), 'utf8')).toBe('second');
  });

  it.each(['LOCK.sqlite', 'Engines/program', '.Before-Restore-x/y'])(
    'refuses %s, which is another spelling of an excluded name',
    async (name) => {
      const file = join(folder, 'crafted.tar.gz');
      const tar = pack();
      const written = pipeline(tar, createGzip(), createWriteStream(file));
      tar.entry({ name }, 'x');
      tar.finalize();
      await written;
      const content = join(folder, 'content');
      mkdirSync(content);
      await expect(unpackBackup(file, content, macos)).rejects.toMatchObject({
        code: 'backup.damaged',
        message: expect.stringContaining('forbidden path') as string,
      });
      expect(readdirSync(content)).toEqual([]);
    },
  );
});
