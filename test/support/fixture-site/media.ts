import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeMedia } from './recipe.ts';

const cache = fileURLToPath(new URL('../../../.cache/fixture-site/', import.meta.url));

/**
 * Makes the site's media with ffmpeg, once: they are kept in the repository's cache under the hash of this recipe.
 * Two test processes may ask at once; one makes them, the other waits. Returns their folder.
 */
export async function fixtureMedia(): Promise<string> {
  const recipe = createHash('sha256')
    .update(await readFile(fileURLToPath(new URL('recipe.ts', import.meta.url))))
    .digest('hex');
  const folder = join(cache, recipe.slice(0, 12));
  const maker = `${folder}.making`;
  await mkdir(cache, { recursive: true });
  for (;;) {
    if (existsSync(folder)) return folder;
    if (await claim(maker)) break;
    await sleep(100);
  }
  try {
    if (!existsSync(folder)) await make(folder);
    return folder;
  } finally {
    await rm(`${folder}.partial`, { recursive: true, force: true });
    await rm(maker, { recursive: true, force: true });
  }
}

/** True when we are the one to make the media; a claim whose process is gone counts for nothing. */
async function claim(maker: string): Promise<boolean> {
  try {
    await mkdir(maker);
    await writeFile(join(maker, String(process.pid)), '');
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const [pid] = await readdir(maker).catch(() => []);
  if (pid !== undefined && !existsSync(`/proc/${pid}`) && existsSync('/proc/self')) {
    await rm(maker, { recursive: true, force: true });
  }
  return false;
}

async function make(folder: string): Promise<void> {
  const draft = `${folder}.partial`;
  await mkdir(draft, { recursive: true });
  await makeMedia(draft);
  await rename(draft, folder);
}
