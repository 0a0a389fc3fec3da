import { protectedFolderHint } from '../contracts/macos-privacy.ts';
import { currentPlatform } from './platform/current-platform.ts';

/**
 * Explains why a folder cannot be read or written; undefined for errors that are not about access.
 *
 * macOS answers EPERM for folders that its privacy settings protect (Desktop, Documents, Downloads, network volumes and
 * removable disks), whatever the rights of the files are.
 */
export function explainFolderAccess(error: unknown, platform: NodeJS.Platform = currentPlatform): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code !== 'EACCES' && code !== 'EPERM') return undefined;
  if (code === 'EPERM' && platform === 'darwin') {
    return `this computer does not let Homeport read it. ${protectedFolderHint.replace(/\.$/, '')}`;
  }
  return 'this computer does not let Homeport read it';
}
