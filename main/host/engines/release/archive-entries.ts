import * as m from '#messages/engine-texts';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { openPromise, type Entry as ZipEntry } from 'yauzl';
import { SourceUnavailable } from './source-unavailable.ts';

/** Member of an archive, in the order of the archive. */
export interface ArchiveEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'symlink' | 'other';
  readonly isExecutable: boolean;
  /** Target of a symbolic link as the archive states it; empty for other kinds. */
  readonly linkTarget: string;
  /** Returns the content; it has to be read before the next entry is requested. */
  open(): Promise<Readable>;
}

const fileTypeMask = 0o170000;
const symlinkType = 0o120000;
/** Host system of entries whose attributes contain Unix modes. */
const unixHost = 3;

/**
 * Lists the members of a `.zip` or `.tar.gz` file.
 * @throws SourceUnavailable for another kind of file; the error of the library for a damaged archive.
 */
export function readArchive(path: string, name: string): AsyncIterable<ArchiveEntry> {
  if (name.endsWith('.zip')) return readZip(path);
  if (/\.(tar\.gz|tgz)$/.test(name)) return readTar(path);
  throw new SourceUnavailable(() => m.unknownArchiveFormat({ file: name }));
}

async function* readZip(path: string): AsyncIterable<ArchiveEntry> {
  const zip = await openPromise(path, { lazyEntries: true, strictFileNames: true });
  try {
    for await (const entry of zip.eachEntry()) {
      const mode = getUnixMode(entry);
      yield {
        name: entry.fileName,
        kind: getZipKind(entry, mode),
        isExecutable: (mode & 0o111) !== 0,
        linkTarget: '',
        open: () => zip.openReadStreamPromise(entry),
      };
    }
  } finally {
    if (zip.isOpen) zip.close();
  }
}

function getZipKind(entry: ZipEntry, mode: number): ArchiveEntry['kind'] {
  if (entry.fileName.endsWith('/')) return 'folder';
  // The target of a link is the content of its entry. No publisher uses links in zip files.
  return (mode & fileTypeMask) === symlinkType ? 'other' : 'file';
}

function getUnixMode({ versionMadeBy, externalFileAttributes }: ZipEntry): number {
  return versionMadeBy >> 8 === unixHost ? externalFileAttributes >>> 16 : 0;
}

const tarKinds: Readonly<Record<string, ArchiveEntry['kind']>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'folder',
  symlink: 'symlink',
};

async function* readTar(path: string): AsyncIterable<ArchiveEntry> {
  const members = extract();
  const unzipped = pipeline(createReadStream(path), createGunzip(), members);
  // A damaged archive fails the loop below or the reader of a member as well.
  unzipped.catch(() => undefined);
  for await (const entry of members) {
    const { name, type, mode, linkname } = entry.header;
    yield {
      name,
      kind: tarKinds[type ?? 'file'] ?? 'other',
      isExecutable: ((mode ?? 0) & 0o111) !== 0,
      linkTarget: linkname ?? '',
      async open() {
        // A reader would wait for the end of a member that was cut off before.
        if (entry.destroyed) await unzipped;
        return entry as unknown as Readable;
      },
    };
    entry.resume();
  }
  await unzipped;
}
