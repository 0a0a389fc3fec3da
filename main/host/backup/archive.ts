import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { z } from 'zod';

/** Description and table of contents of a backup; last entry of the archive. */
export const Manifest = z.object({
  format: z.literal('homeport-backup'),
  formatVersion: z.literal(1),
  /** Version of Homeport that created it. */
  homeport: z.string(),
  createdAt: z.iso.datetime(),
  /** Location of the tables: `elsewhere` is a database server, which a backup of the data folder does not include. */
  tables: z.enum(['here', 'elsewhere']).default('here'),
  /** Path below the data folder -> size and SHA-256 in hex. */
  files: z.record(z.string(), z.object({ size: z.int(), sha256: z.string() })),
});
export type Manifest = z.infer<typeof Manifest>;

/** Creates a pass-through stream whose `getResult` returns the number of bytes and their SHA-256 in hex after the end. */
export function measure(): Transform & { readonly getResult: () => { size: number; sha256: string } } {
  const hash = createHash('sha256');
  let size = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  return Object.assign(stream, { getResult: () => ({ size, sha256: hash.digest('hex') }) });
}

export const manifestName = 'manifest.json';

/** Folder in the data folder in which a restore is prepared. */
export const staging = '.restoring';

/** Folder for data that was set aside and is about to be restored. */
export const returning = '.returning';

/** Top-level names of the data folder that backups omit: they belong to the running process or can be recreated. */
export const excludedNames: ReadonlySet<string> = new Set([
  'lock.sqlite',
  'lock.sqlite-journal',
  'running.json',
  'logs',
  'pulse.json',
  'engines',
  staging,
  returning,
  '.children',
  // Files of Chromium.
  'desktop',
]);

/**
 * Returns whether a path is a service's own database, `<id>/db.sqlite`. Other files with this ending are ordinary
 * files, such as downloads.
 */
export function isDatabase(path: string): boolean {
  return /^[^/]+\/db\.sqlite$/.test(path);
}

/**
 * Returns whether a path is a file that SQLite or the jobs store beside a database: the copy of the database includes
 * the former, and the latter is only of temporary use.
 */
export function isBesideDatabase(path: string): boolean {
  return /^[^/]+\/db\.(sqlite-(wal|shm|journal)|ended-[12])$/.test(path);
}

/** Prefix of folders with data that a restore replaced. */
export const replacedPrefix = '.before-restore-';

/** Prefix of a name that is being removed, so that an interrupted removal is not taken for complete data. */
export const removingPrefix = '.removing-';

export function isExcluded(topName: string): boolean {
  return excludedNames.has(topName) || topName.startsWith(replacedPrefix) || topName.startsWith(removingPrefix);
}
