import { open } from 'node:fs/promises';
import { currentPlatform } from './current-platform.ts';

/**
 * Makes renames within a folder durable. Windows cannot open a folder, and some network file systems cannot sync one;
 * their renames do not need it.
 */
export async function syncFolder(folder: string, platform: NodeJS.Platform = currentPlatform): Promise<void> {
  if (platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error;
  } finally {
    await handle.close();
  }
}
