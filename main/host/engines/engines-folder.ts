import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { moveFolderSync } from '../../../services/kit/platform/file-replacement.ts';
import type { Log } from '../../../services/contracts/service.ts';

/**
 * Returns the folder in which engines are installed: the one of the settings itself, or `engines` in the data folder.
 * Earlier versions installed into a folder `engines` below the one of the settings; those engines are moved up once.
 */
export function findEnginesFolder(
  { enginesFolder }: { readonly enginesFolder: string },
  dataDir: string,
  log: Log,
): string {
  if (enginesFolder === '') return join(dataDir, 'engines');
  try {
    moveUp(join(enginesFolder, 'engines'), enginesFolder);
  } catch (error) {
    log.warn('engines of earlier version not moved, reinstalling', { enginesFolder, error });
  }
  return enginesFolder;
}

function moveUp(former: string, folder: string): void {
  if (!existsSync(former)) return;
  for (const name of readdirSync(former)) {
    const isEngine = existsSync(join(former, name, 'current'));
    if (!isEngine || existsSync(join(folder, name))) continue;
    mkdirSync(folder, { recursive: true });
    moveFolderSync(join(former, name), join(folder, name));
  }
  if (readdirSync(former).length === 0) rmdirSync(former);
}
