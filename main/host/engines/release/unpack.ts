import * as m from '#messages/engine-texts';
import { formatNumber } from '../../../../messages/format.ts';
import { createWriteStream } from 'node:fs';
import { mkdir, realpath, symlink } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readArchive, type ArchiveEntry } from './archive-entries.ts';
import { createContentSizeError } from './size-limit.ts';
import { SourceUnavailable } from './source-unavailable.ts';

export interface UnpackOptions {
  /** Name of the archive at its publisher; its ending states the format. */
  readonly name: string;
  /** Existing folder that the members are written to. Nothing is written outside of it. */
  readonly folder: string;
  /** Members to unpack, by their name in the archive, with their name in the folder. By default all are unpacked. */
  readonly members?: Readonly<Record<string, string>>;
  readonly maxBytes?: number;
}

const unsafeCharacters = /[\\:\0]/;
/** Names that Windows reads as a device, or without their end. */
const windowsNames = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|[. ]$/i;
const defaultMaxBytes = 1024 ** 3;
const maxEntries = 50_000;

/**
 * Unpacks an archive whose checksum was verified. Existing files are not overwritten.
 * @throws SourceUnavailable when a member would be written outside of the folder, is a link out of it or neither file
 * nor folder, when a requested member is missing, or when the content exceeds the limits.
 */
export async function unpackArchive(archive: string, options: UnpackOptions): Promise<void> {
  const { name, members, folder } = options;
  const unpacked = new Set<string>();
  const links: { readonly name: string; readonly target: string }[] = [];
  const limit = new ByteLimit(name, options.maxBytes ?? defaultMaxBytes);
  let count = 0;
  for await (const entry of readArchive(archive, name)) {
    count += 1;
    if (count > maxEntries)
      throw new SourceUnavailable(() => m.tooManyMembers({ file: name, limit: formatNumber(maxEntries) }));
    const target = members === undefined ? entry.name : members[entry.name];
    if (target === undefined) continue;
    const segments = splitName(target);
    if (entry.kind === 'folder') await mkdir(join(folder, ...segments), { recursive: true });
    else if (entry.kind === 'file') await writeMember(entry, join(folder, ...segments), limit);
    else if (entry.kind === 'symlink') links.push({ name: segments.join('/'), target: checkLink(segments, entry) });
    else throw new SourceUnavailable(() => m.unsupportedMember({ file: name, member: entry.name }));
    unpacked.add(entry.name);
  }
  // Links are created last, so that no member is written through one.
  const root = await realpath(folder);
  for (const link of links) {
    const parent = dirname(join(root, link.name));
    await mkdir(parent, { recursive: true });
    if ((await realpath(parent)) !== parent) throw new SourceUnavailable(() => m.linkBelowLink({ file: name }));
    await symlink(link.target, join(root, link.name));
  }
  const missing = Object.keys(members ?? {}).find((member) => !unpacked.has(member));
  if (missing !== undefined) throw new SourceUnavailable(() => m.notInArchive({ archive: name, file: missing }));
}

/** Counts the unpacked bytes of all members, since a small archive can contain an endless file. */
class ByteLimit {
  readonly #archive: string;
  readonly #maxBytes: number;
  #remaining: number;

  constructor(archive: string, maxBytes: number) {
    this.#archive = archive;
    this.#maxBytes = maxBytes;
    this.#remaining = maxBytes;
  }

  count(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#remaining -= chunk.length;
        if (this.#remaining < 0) done(createContentSizeError(this.#archive, this.#maxBytes));
        else done(null, chunk);
      },
    });
  }
}

async function writeMember(entry: ArchiveEntry, path: string, limit: ByteLimit): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const mode = entry.isExecutable ? 0o755 : 0o644;
  await pipeline(await entry.open(), limit.count(), createWriteStream(path, { flags: 'wx', mode, flush: true }));
}

/** Splits a member's name into path segments, none of which leads out of the folder on any system. */
function splitName(name: string): readonly string[] {
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.');
  const isUnsafe =
    name.startsWith('/') ||
    unsafeCharacters.test(name) ||
    segments.some((segment) => segment === '..' || windowsNames.test(segment)) ||
    segments.length === 0;
  if (isUnsafe && name !== './' && name !== '.') {
    throw new SourceUnavailable(() => m.unsafeName({ name: JSON.stringify(name) }));
  }
  return segments;
}

/** Returns the target of a link that stays inside the folder. Only leading `..` are accepted, as links may be chained. */
function checkLink(segments: readonly string[], { name, linkTarget }: ArchiveEntry): string {
  const resolved = posix.normalize(posix.join(...segments.slice(0, -1), linkTarget));
  const leadsOut = !/^(?:\.\.\/)*(?:(?!\.\.?(?:\/|$))[^/\\:\0]+(?:\/|$))+$/.test(linkTarget);
  if (leadsOut || resolved === '..' || resolved.startsWith('../')) {
    throw new SourceUnavailable(() => m.unsafeLink({ name }));
  }
  return linkTarget;
}
