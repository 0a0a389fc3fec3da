import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { Engine } from '../../../services/contracts/control/engines.ts';

/**
 * Returns the size of an engine in bytes: the whole folder of its version below `root`, or the executable; null when
 * missing. Without `root`, that of the executable.
 */
export async function getSize({ path }: Pick<Engine, 'path'>, root: string | undefined): Promise<number | null> {
  if (path === null) return null;
  if (root === undefined || !path.startsWith(root + sep)) return await fileSize(path);
  const [engine = '', version = ''] = relative(root, path).split(sep);
  return await folderSize(join(root, engine, version));
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
