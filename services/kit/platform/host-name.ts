import { currentPlatform } from './current-platform.ts';

/**
 * Returns whether the system itself announces `<host name>.local`. If another program announces the same name, macOS
 * renames the computer, and Windows reports a conflict.
 */
export function announcesHostName(platform: NodeJS.Platform = currentPlatform): boolean {
  return platform === 'darwin' || platform === 'win32';
}

/** Returns whether the host name changes with the network that the computer joins. */
export function hostNameFollowsNetwork(platform: NodeJS.Platform = currentPlatform): boolean {
  return platform === 'darwin';
}
