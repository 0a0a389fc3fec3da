import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../../../main/host/database/open.ts';
import type { Disk } from './life.ts';

/**
 * Creates a folder on a small separate disk; undefined without the permission to mount. It is outside of the run's
 * temporary files, which could not be deleted after a kill otherwise.
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
 * Returns the disk of a database in a folder. Without a mount, a limit of the file replaces that of the disk; SQLite
 * reports both with the same code. A server's disk cannot be filled.
 */
export function smallDisk(folder: string, mounted: boolean, database: Database): Disk | undefined {
  if (database.dialect === 'postgres') return undefined;
  if (!mounted) {
    return {
      fill: async () => void (await sql`pragma max_page_count = 1`.execute(database.kysely)),
      free: async () => void (await sql`pragma max_page_count = 1000000`.execute(database.kysely)),
    };
  }
  const fillerFile = join(folder, 'ballast');
  return { fill: () => fill(fillerFile), free: () => rmSync(fillerFile, { force: true }) };
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
