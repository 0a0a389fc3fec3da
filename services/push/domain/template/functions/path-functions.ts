import { takes, type TemplateFunction } from './signature.ts';

/** Without `.`, `..` that lead back, and slashes too many. */
function clean(path: string): string {
  const isRooted = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!isRooted) parts.push(part);
  }
  const joined = (isRooted ? '/' : '') + parts.join('/');
  return joined === '' ? '.' : joined;
}

function base(path: string): string {
  if (path === '') return '.';
  const trimmed = path.replace(/\/+$/, '');
  return trimmed === '' ? '/' : trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

function ending(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot);
}

const baseOf = takes(['string'], ([path]) => base(path));
const folderOf = takes(['string'], ([path]) => clean(path.slice(0, path.lastIndexOf('/') + 1)));
const cleaned = takes(['string'], ([path]) => clean(path));
const endingOf = takes(['string'], ([path]) => ending(path));
const isRooted = takes(['string'], ([path]) => path.startsWith('/'));

/** Sprig's functions for paths. The peer's server knows slashes only, so those for files say the same. */
export const pathFunctions: Readonly<Record<string, TemplateFunction>> = {
  base: baseOf,
  osBase: baseOf,
  dir: folderOf,
  osDir: folderOf,
  clean: cleaned,
  osClean: cleaned,
  ext: endingOf,
  osExt: endingOf,
  isAbs: isRooted,
  osIsAbs: isRooted,
};
