import { constants } from 'node:fs';
import { currentPlatform } from './current-platform.ts';

/** Returns whether paths have drives and backslashes. */
export function hasWindowsPaths(platform: NodeJS.Platform = currentPlatform): boolean {
  return platform === 'win32';
}

/**
 * Returns the maximum length of a path that programs accept without special preparation; undefined where only names
 * have a limit of practical importance.
 */
export function getMaxPathLength(platform: NodeJS.Platform = currentPlatform): number | undefined {
  return platform === 'win32' ? 259 : undefined;
}

/** Returns whether files have permission bits for their owner, the group and others. */
export function hasFileModes(platform: NodeJS.Platform = currentPlatform): boolean {
  return platform !== 'win32';
}

/** Returns whether the usual file system treats names that differ only by case as equal. */
export function ignoresCase(platform: NodeJS.Platform = currentPlatform): boolean {
  return platform === 'win32' || platform === 'darwin';
}

/** Returns the form of a name by which file systems that ignore case compare it. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Returns whether Windows opens a device instead of a file with this name. The extension does not matter. */
export function isWindowsDevice(name: string): boolean {
  return /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])(?:\.|$)/i.test(name);
}

/** Returns whether programs can listen on sockets in the file system. */
export function hasUnixSockets(platform: NodeJS.Platform = currentPlatform): boolean {
  return platform !== 'win32';
}

/** Returns the maximum length of the path of a Unix socket, without its final zero byte; 0 where there are none. */
export function getMaxSocketPathBytes(platform: NodeJS.Platform = currentPlatform): number {
  if (!hasUnixSockets(platform)) return 0;
  return platform === 'linux' ? 107 : 103;
}

/**
 * Returns whether fsync leaves data in the cache of the disk, which a power failure empties. On macOS, programs must
 * request F_FULLFSYNC instead; Node does.
 */
export function syncLeavesDiskCache(platform: NodeJS.Platform = currentPlatform): boolean {
  return platform === 'darwin';
}

/** Returns the flag with which opening a symbolic link fails; 0 where there is none. */
export function getNoFollowFlag(platform: NodeJS.Platform = currentPlatform): number {
  return platform === 'win32' ? 0 : constants.O_NOFOLLOW;
}

/**
 * Returns the path by which a child process reaches a folder that it inherited as an open descriptor; undefined where
 * the system has no such paths.
 */
export function findDescriptorPath(
  descriptor: number,
  platform: NodeJS.Platform = currentPlatform,
): string | undefined {
  return platform === 'linux' ? `/proc/self/fd/${descriptor}` : undefined;
}

/** Lists the folders in which the system shows running programs with their environment. */
export function listProcessFolders(platform: NodeJS.Platform = currentPlatform): readonly string[] {
  return platform === 'linux' ? ['/proc'] : [];
}
