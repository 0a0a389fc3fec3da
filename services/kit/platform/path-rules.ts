import { posix, win32, type PlatformPath } from 'node:path';
import { currentPlatform } from './current-platform.ts';

/** Returns the rules for paths of a platform: separators, drives, and the delimiter of the PATH variable. */
export function getPathRules(platform: NodeJS.Platform = currentPlatform): PlatformPath {
  return platform === 'win32' ? win32 : posix;
}

/** Lists the absolute folders of the PATH variable. On Windows its name has any case and its folders may have quotes. */
export function listPathFolders(
  platform: NodeJS.Platform = currentPlatform,
  environment: NodeJS.ProcessEnv = process.env,
): readonly string[] {
  const rules = getPathRules(platform);
  if (platform !== 'win32')
    return (environment['PATH'] ?? '').split(rules.delimiter).filter((folder) => rules.isAbsolute(folder));
  const name = Object.keys(environment).find((each) => each.toUpperCase() === 'PATH') ?? 'PATH';
  const folders = (environment[name] ?? '').split(rules.delimiter).map((folder) => folder.replaceAll('"', ''));
  return folders.filter((folder) => rules.isAbsolute(folder));
}

/** Joins a folder and the name of a file in it, with `/` on Windows too if the folder is written with it only. */
export function joinFileName(folder: string, name: string, platform: NodeJS.Platform = currentPlatform): string {
  if (folder.includes('/') && !folder.includes('\\')) return `${folder.replace(/\/+$/, '')}/${name}`;
  return getPathRules(platform).join(folder, name);
}
