import { join } from 'node:path';

/** Where files are made that leave the host again, such as backups and archives; the next start empties it. */
export function passingFolder(files: string): string {
  return join(files, 'portable');
}
