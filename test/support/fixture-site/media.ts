import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { claim } from './claim.ts';
import { makeMedia } from './recipe.ts';

const cache = fileURLToPath(new URL('../../../.cache/fixture-site/', import.meta.url));

/**
 * Creates the media of the site with ffmpeg once; they stay in the repository's cache under the hash of this recipe. Of
 * two concurrent test processes one creates them and the other waits. Returns their folder.
 */
export async function fixtureMedia(): Promise<string> {
  const recipe = createHash('sha256')
    .update(await readFile(fileURLToPath(new URL('recipe.ts', import.meta.url))))
    .digest('hex');
  const folder = join(cache, recipe.slice(0, 12));
  const temporaryScript = `${folder}.maker`;
  await mkdir(cache, { recursive: true });
  for (;;) {
    if (existsSync(folder)) return folder;
    if (await claim(temporaryScript)) break;
    await sleep(100);
  }
  try {
    if (!existsSync(folder)) await make(folder);
    return folder;
  } finally {
    await rm(`${folder}.partial`, { recursive: true, force: true });
    await rm(temporaryScript, { force: true });
  }
}

async function make(folder: string): Promise<void> {
  const draft = `${folder}.partial`;
  // A killed process left incomplete files.
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  await makeMedia(draft);
  await rename(draft, folder);
}
