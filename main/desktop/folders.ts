import { isAbsolute, relative, resolve } from 'node:path';
import type { Host } from '../host/host.ts';

/** Whether a path lies in one of these folders, or is one. Paths are absolute; `..` has been resolved. */
export function liesIn(path: string, folders: readonly string[]): boolean {
  if (!isAbsolute(path)) return false;
  return folders.some((folder) => {
    const way = relative(resolve(folder), resolve(path));
    return !isAbsolute(way) && way !== '..' && !/^\.\.[/\\]/.test(way);
  });
}

/** Where finished files lie, as the settings say. */
export function downloadFolders({ control }: Pick<Host, 'control'>): string[] {
  const fields = control.settings().sections.find(({ id }) => id === 'downloads')?.fields ?? [];
  return fields.flatMap(({ value, name }) =>
    /Dir$/.test(name) && typeof value === 'string' && value !== '' ? [value] : [],
  );
}
