import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { z } from 'zod';

/** First and last word about a backup: what it is, and what must be in it. Last entry of the archive. */
export const Manifest = z.object({
  format: z.literal('homeport-backup'),
  formatVersion: z.literal(1),
  /** Version of Homeport that made it. */
  homeport: z.string(),
  createdAt: z.iso.datetime(),
  /** Where the tables were: `elsewhere` is a database server, whose content no backup of a data folder holds. */
  tables: z.enum(['here', 'elsewhere']).default('here'),
  /** Path below the data folder -> size and SHA-256 in hex. */
  files: z.record(z.string(), z.object({ size: z.int(), sha256: z.string() })),
});
export type Manifest = z.infer<typeof Manifest>;

/** Passes bytes through and tells, once they are all through, how many there were and their SHA-256 in hex. */
export function measure(): Transform & { readonly found: () => { size: number; sha256: string } } {
  const hash = createHash('sha256');
  let size = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  return Object.assign(stream, { found: () => ({ size, sha256: hash.digest('hex') }) });
}

export const manifestName = 'manifest.json';

/** Where a restore gets ready, in the data folder. */
export const staging = '.restoring';

/** Where what a restore has set aside waits to come back. */
export const returning = '.returning';

/** Names of the data folder's top that a backup leaves out: they belong to the running process or can be made anew. */
export const leftOut: ReadonlySet<string> = new Set([
  'lock.sqlite',
  'lock.sqlite-journal',
  'running.json',
  'logs',
  'pulse.json',
  'engines',
  staging,
  returning,
  '.children',
  // Chromium's own files.
  'desktop',
]);

/** A service's own database, `<id>/db.sqlite`. Any other file of that ending is a file like others, such as a download. */
export function isDatabase(path: string): boolean {
  return /^[^/]+\/db\.sqlite$/.test(path);
}

/** What SQLite and the jobs keep beside such a database: a copy of it holds the one, the other is of this moment. */
export function isBesideDatabase(path: string): boolean {
  return /^[^/]+\/db\.(sqlite-(wal|shm|journal)|ended-[12])$/.test(path);
}

/** The folders of what a restore replaced. */
export const replacedPrefix = '.before-restore-';

/** Before the name of what is being removed: cut off, half of it must not be taken for whole. */
export const removingPrefix = '.removing-';

export function isLeftOut(topName: string): boolean {
  return leftOut.has(topName) || topName.startsWith(replacedPrefix) || topName.startsWith(removingPrefix);
}
