import * as m from '#messages/kit-problems';
import { z } from 'zod';
import { currentPlatform } from './current-platform.ts';

/** Drive, or server of a network folder. Windows accepts both kinds of slashes. */
const windowsPath = /^(?:[A-Za-z]:[/\\]|[/\\]{2}[^/\\])/;
const posixPath = /^\//;

/** Returns whether a path is absolute on a platform. `C:\\files` is not on Linux, and `/files` is not on Windows. */
export function isAbsoluteOn(path: string, platform: NodeJS.Platform = currentPlatform): boolean {
  return (platform === 'win32' ? windowsPath : posixPath).test(path);
}

/** Returns why a path cannot be set on a platform; undefined for a valid or an empty path. */
export function findPathProblem(path: string, platform: NodeJS.Platform = currentPlatform): string | undefined {
  if (path === '' || isAbsoluteOn(path, platform)) return undefined;
  const isOfOtherSystem = windowsPath.test(path) || posixPath.test(path);
  return isOfOtherSystem ? m.pathOfOtherSystem() : m.pathNotAbsolute();
}

/**
 * Setting with an absolute path, or an empty text for the default. A path of another operating system, as
 * in a restored backup, is reported and the default applies.
 */
export const pathSetting = z
  .string()
  .max(4096)
  .superRefine((path, context) => {
    const message = findPathProblem(path);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
