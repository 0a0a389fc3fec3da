import { readdir, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { Engine } from '../../../services/contracts/control/engines.ts';

/**
 * Returns the size of an engine in bytes: the whole folder of its version below `root`, or the executable; null when
 * missing.
 */
export async function getSize({ path }: Pick<Engine, 'path'>, root: string): Promise<number | null> {
  if (path === null) return null;
  return path.startsWith(root + sep) ? await folderSize(dirname(path)) : await fileSize(path);
}

async function folderSize(folder: string): Promise<number | null> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const sizes = await Promise.all(files.map(fileSize));
    return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  } catch {
    return null; // Removed by an update in the meantime.
  }
}

async function fileSize(path: string): Promise<number | null> {
  return (await stat(path).catch(() => undefined))?.size ?? null;
}
