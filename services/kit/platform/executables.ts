import { currentPlatform } from './current-platform.ts';

/** Returns the file name of a program. */
export function executableName(name: string, platform: NodeJS.Platform = currentPlatform): string {
  return platform === 'win32' ? `${name}.exe` : name;
}
