import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Returns the real path of a file inside of the root; undefined for files that are missing, hidden or outside. */
export async function resolveFile(root: string, parts: readonly string[]): Promise<string | undefined> {
  if (parts.some((part) => part === '' || part === '..' || part.startsWith('.') || part.includes('\0')))
    return undefined;
  const realRoot = await realpath(root).catch(() => undefined);
  const file = await realpath(join(root, ...parts)).catch(() => undefined);
  return realRoot !== undefined && file?.startsWith(realRoot + sep) === true ? file : undefined;
}
