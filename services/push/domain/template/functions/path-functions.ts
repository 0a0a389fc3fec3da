import { defineFunction, type TemplateFunction } from './signature.ts';

/** Removes `.`, resolvable `..` and repeated slashes. */
function clean(path: string): string {
  const isRooted = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!isRooted) parts.push(part);
  }
  const cleaned = (isRooted ? '/' : '') + parts.join('/');
  return cleaned === '' ? '.' : cleaned;
}

function getBaseName(path: string): string {
  if (path === '') return '.';
  const trimmed = path.replace(/\/+$/, '');
  return trimmed === '' ? '/' : trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

function getExtension(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot);
}

const baseFunction = defineFunction(['string'], ([path]) => getBaseName(path));
const dirFunction = defineFunction(['string'], ([path]) => clean(path.slice(0, path.lastIndexOf('/') + 1)));
const cleanFunction = defineFunction(['string'], ([path]) => clean(path));
const extFunction = defineFunction(['string'], ([path]) => getExtension(path));
const isAbsFunction = defineFunction(['string'], ([path]) => path.startsWith('/'));

/** Sprig's functions for paths. ntfy only supports slashes, so the os variants are identical. */
export const pathFunctions: Readonly<Record<string, TemplateFunction>> = {
  base: baseFunction,
  osBase: baseFunction,
  dir: dirFunction,
  osDir: dirFunction,
  clean: cleanFunction,
  osClean: cleanFunction,
  ext: extFunction,
  osExt: extFunction,
  isAbs: isAbsFunction,
  osIsAbs: isAbsFunction,
};
