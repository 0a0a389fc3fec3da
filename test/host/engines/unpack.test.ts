import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findChecksum } from '../../../main/host/engines/release/checksums.ts';
import { unpackArchive, type UnpackOptions } from '../../../main/host/engines/release/unpack.ts';
import { buildTarGz, buildZip, type TestMember } from '../../support/archives.ts';

let parent: string;
let folder: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'unpack-'));
  folder = join(parent, 'engine');
  mkdirSync(folder);
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

async function unpack(content: Buffer, name: string, options: Partial<UnpackOptions> = {}): Promise<void> {
  const archive = join(parent, 'download');
  writeFileSync(archive, content);
  await unpackArchive(archive, { name, folder, ...options });
}

const unpackZip = (members: readonly TestMember[], options?: Partial<UnpackOptions>): Promise<void> =>
  unpack(buildZip(members), 'release.zip', options);
const unpackTar = async (members: Parameters<typeof buildTarGz>[0]): Promise<void> =>
  unpack(await buildTarGz(members), 'release.tar.gz');

describe('unpacking a release', () => {
  it('writes the requested members of a zip file under their new names', async () => {
    const members = { 'ffmpeg-9/bin/ffmpeg': 'ffmpeg', 'ffmpeg-9/bin/ffprobe': 'ffprobe' };
    await unpackZip(
      [
        { name: 'ffmpeg-9/', mode: 0o040755 },
        { name: 'ffmpeg-9/bin/ffmpeg', content: 'one' },
        { name: 'ffmpeg-9/bin/ffprobe', content: 'two', mode: 0o100644 },
        { name: 'ffmpeg-9/doc/manual', content: 'three' },
      ],
      { members },
    );
    expect(readdirSync(folder)).toEqual(['ffmpeg', 'ffprobe']);
    expect(readFileSync(join(folder, 'ffmpeg'), 'utf8')).toBe('one');
    expect(statSync(join(folder, 'ffmpeg')).mode & 0o111).toBe(0o111);
    expect(statSync(join(folder, 'ffprobe')).mode & 0o111).toBe(0);
  });

  it('writes all members of a tar file with the links between them', async () => {
    await unpackTar([
      { name: 'python/', type: 'directory' },
      { name: 'python/bin/python3', type: 'symlink', linkname: 'python3.13' },
      { name: 'python/bin/python3.13', content: 'program' },
      { name: 'python/lib/link', type: 'symlink', linkname: '../bin/python3.13' },
    ]);
    expect(readFileSync(join(folder, 'python/bin/python3'), 'utf8')).toBe('program');
    expect(readFileSync(join(folder, 'python/lib/link'), 'utf8')).toBe('program');
  });

  const outside = ['../evil', 'bin/../../evil', '/evil', 'C:/evil', 'bin\\..\\..\\evil', 'file:stream'];
  const devices = ['bin/nul', 'COM1', 'aux.txt', 'tool.', 'folder /tool'];

  it.each([...outside, ...devices])(
    'refuses the member %s, which is outside of the folder or no file on some system',
    async (name) => {
      await expect(unpackZip([{ name, content: 'x' }])).rejects.toThrow();
      await expect(unpackTar([{ name, content: 'x' }])).rejects.toThrow('unsafe name');
      expect(readdirSync(parent)).toEqual(['download', 'engine']);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it.each([
    ['to an absolute path', 'bin/tool', '/etc/passwd'],
    ['to a parent folder', 'bin/tool', '../../evil'],
    ['through another link', 'bin/tool', 'sub/../../evil'],
    ['without a target', 'bin/tool', ''],
  ])('refuses a link %s', async (_case, name, linkname) => {
    await expect(unpackTar([{ name, type: 'symlink', linkname }])).rejects.toThrow('points outside the archive');
  });

  it('refuses links below links, device files and links in zip files', async () => {
    const chain = [
      { name: 'here', type: 'symlink', linkname: 'bin' },
      { name: 'here/up', type: 'symlink', linkname: '../..' },
    ] as const;
    await expect(unpackTar([{ name: 'bin/tool', content: 'x' }, ...chain])).rejects.toThrow();
    await expect(unpackTar([{ name: 'pipe', type: 'fifo' }])).rejects.toThrow('neither a file nor a folder');
    await expect(unpackTar([{ name: 'hard', type: 'link', linkname: '/etc/passwd' }])).rejects.toThrow('neither');
    await expect(unpackZip([{ name: 'link', content: '/etc', mode: 0o120777 }])).rejects.toThrow('neither');
  });

  it('stops at the size limit for all members together', async () => {
    const members = [
      { name: 'one', content: Buffer.alloc(60_000) },
      { name: 'two', content: Buffer.alloc(60_000) },
    ];
    await expect(unpackZip(members, { maxBytes: 100_000 })).rejects.toThrow(
      'The content of release.zip is larger than the limit of 100000 bytes',
    );
    rmSync(join(folder, 'one'));
    rmSync(join(folder, 'two'));
    await unpackZip(members, { maxBytes: 120_000 });
  });

  it('refuses a member that is missing, a file that exists, a damaged archive and an unknown format', async () => {
    await expect(unpackZip([{ name: 'other' }], { members: { tool: 'tool' } })).rejects.toThrow('doesn’t contain tool');
    await expect(
      unpackTar([
        { name: 'same', content: '1' },
        { name: 'same', content: '2' },
      ]),
    ).rejects.toThrow('EEXIST');
    await expect(unpack(Buffer.from('text'), 'release.zip')).rejects.toThrow();
    const whole = await buildTarGz([{ name: 'tool', content: 'x'.repeat(5000) }]);
    await expect(unpack(whole.subarray(0, whole.length - 20), 'release.tar.gz')).rejects.toThrow();
    await expect(unpack(whole, 'release.tar.xz')).rejects.toThrow('isn’t in a supported archive format');
  });
});

describe('list of checksums', () => {
  const [one, two] = ['a'.repeat(64), 'B'.repeat(64)];

  it('finds the sum of a file in the formats of the publishers', () => {
    expect(findChecksum(`${two}  other\n${one}  tool.zip\n`, 'tool.zip')).toBe(one);
    expect(findChecksum(`${two} *tool.zip\r\n`, 'tool.zip')).toBe('b'.repeat(64));
    const signed = `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${one}  tool.zip\n-----BEGIN PGP SIGNATURE-----\n`;
    expect(findChecksum(signed, 'tool.zip')).toBe(one);
  });

  it('returns nothing for a file that the list does not name', () => {
    expect(findChecksum(`${one}  other.zip\n`, 'tool.zip')).toBeUndefined();
    // A sum without a name may belong to another file.
    expect(findChecksum(`${one}\n`, 'tool.zip')).toBeUndefined();
    expect(findChecksum('', 'tool.zip')).toBeUndefined();
    expect(findChecksum(`${one}0  tool.zip`, 'tool.zip')).toBeUndefined();
  });
});
