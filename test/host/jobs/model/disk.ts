import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../../../main/host/database/open.ts';
import type { Disk } from './life.ts';

/**
 * A folder with a small disk of its own; undefined where that is not permitted. Not among the temporary files of the run:
 * of one that is killed it stays, and those could not be removed.
 */
export function mountSmall(): string | undefined {
  const folder = mkdtempSync('/tmp/homeport-model-');
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]).status === 0) return folder;
  rmSync(folder, { recursive: true });
  return undefined;
}

export function unmount(folder: string): void {
  execFileSync('umount', ['-l', folder]);
  rmSync(folder, { recursive: true });
}

/**
 * The disk of a database in a folder. Where none could be mounted the file's own limit stands for the disk's, which SQLite
 * answers with the same code. A server's disk is not ours to fill.
 */
export function smallDisk(folder: string, mounted: boolean, database: Database): Disk | undefined {
  if (database.dialect === 'postgres') return undefined;
  if (!mounted) {
    return {
      fill: async () => void (await sql`pragma max_page_count = 1`.execute(database.kysely)),
      free: async () => void (await sql`pragma max_page_count = 1000000`.execute(database.kysely)),
    };
  }
  const ballast = join(folder, 'ballast');
  return { fill: () => fill(ballast), free: () => rmSync(ballast, { force: true }) };
}

/** Writes until the disk is full. */
function fill(file: string): void {
  const handle = openSync(file, 'a');
  try {
    for (const size of [1 << 20, 4096, 1]) while (writes(handle, Buffer.alloc(size, 'x')));
  } finally {
    closeSync(handle);
  }
}

function writes(handle: number, block: Buffer): boolean {
  try {
    return writeSync(handle, block) === block.length;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}
