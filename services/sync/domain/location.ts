import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { foldName, hasWindowsPaths, ignoresCase } from '../../kit/platform/file-systems.ts';
import { normalizeWindowsPath, normalizeWindowsPattern } from './windows-path.ts';

/** Location of files in rclone's notation. */
export type Location =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 'remote'; readonly name: string; readonly path: string }
  /** Other inputs that the engine accepts: inline remotes, options in the text, relative paths, objects. */
  | { readonly kind: 'inline' };

const remotePattern = /^([\w.+@][\w.+@ -]*):(.*)$/s;

/** Parses a client's `fs`, `srcFs` or `dstFs`. A path of Windows is returned in its one spelling. */
export function parseLocation(text: unknown, windows = false): Location {
  if (typeof text !== 'string' || text.includes('\0')) return { kind: 'inline' };
  const path = windows ? normalizeWindowsPath(text) : text.startsWith('/') ? text : undefined;
  if (path !== undefined) return { kind: 'local', path };
  if (windows && /^[/\\]/.test(text)) return { kind: 'inline' };
  const [, name, remotePath] = remotePattern.exec(text) ?? [];
  if (name === undefined || remotePath === undefined || (windows && name.length === 1)) return { kind: 'inline' };
  return { kind: 'remote', name, path: remotePath };
}

/** Returns true if a path contains `..`, which leaves an allowed folder, or `.`, which is another spelling of a denied one. */
export function hasDotSegments(path: string): boolean {
  return path.split(/[/\\]/).some((part) => part === '..' || part === '.');
}

/**
 * Returns the resource that grants name: a folder with a trailing slash. A local path must be resolved (realpath). Names
 * that differ only by case are one folder on the usual file systems of Windows and macOS.
 */
export function toGrantResource(
  location: Exclude<Location, { readonly kind: 'inline' }>,
  platform: NodeJS.Platform = currentPlatform,
): string {
  const path = location.path.replaceAll('\\', '/').replace(/\/+/g, '/').replace(/\/$/, '');
  if (location.kind === 'remote')
    return path === '' && location.path === '' ? `${location.name}:` : `${location.name}:${path}/`;
  const windowsPath = hasWindowsPaths(platform) ? normalizeWindowsPath(location.path)?.replace(/\/$/, '') : undefined;
  return foldCase(`${windowsPath ?? path}/`, platform);
}

/** Returns the pattern of a grant in the spelling of {@link toGrantResource}. */
export function normalizeGrantPattern(pattern: string, platform: NodeJS.Platform = currentPlatform): string {
  const windows = hasWindowsPaths(platform);
  if (windows ? !/^(?:[a-z]:[/\\]|[/\\]{2})/i.test(pattern) : !pattern.startsWith('/')) return pattern;
  return foldCase(windows ? normalizeWindowsPattern(pattern) : pattern, platform);
}

function foldCase(path: string, platform: NodeJS.Platform): string {
  return ignoresCase(platform) ? foldName(path) : path;
}

/** Joins a location and the path of a folder or file in it. */
export function joinLocation(location: string, remotePath: string): string {
  if (remotePath === '') return location;
  return location.endsWith('/') || location.endsWith(':') ? `${location}${remotePath}` : `${location}/${remotePath}`;
}

/** Splits the path of a file or folder into its folder and its name; undefined for the top of a remote or disk. */
export function splitLocation(
  text: string,
  windows = false,
): { readonly folder: string; readonly name: string } | undefined {
  const location = parseLocation(text, windows);
  if (location.kind === 'inline') return undefined;
  const path = location.path.replace(/(?<=[^/])\/+$/, '');
  const end = path.lastIndexOf('/');
  const name = path.slice(end + 1);
  if (name === '') return undefined;
  if (location.kind === 'remote') {
    const parent = end === 0 ? '/' : path.slice(0, Math.max(0, end));
    return { folder: `${location.name}:${parent}`, name };
  }
  const parent = path.slice(0, end);
  // `C:` alone would be the current folder of the drive.
  return { folder: parent === '' || parent.endsWith(':') ? `${parent}/` : parent, name };
}

/** Formats a location for display, without options in the text, which may contain secrets. */
export function formatLocation(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    const { type, _name: name, _root: root } = value as Record<string, unknown>;
    return `${typeof name === 'string' ? name : `:${typeof type === 'string' ? type : ''}`}:${typeof root === 'string' ? root : ''}`;
  }
  if (typeof value !== 'string') return '';
  const head = /^:?[^/,:]+(?=,)/.exec(value)?.[0];
  if (head === undefined) return value;
  let quote = '';
  for (let index = head.length; index < value.length; index++) {
    const character = value.charAt(index);
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === ':') return `${head}${value.slice(index)}`;
  }
  return head;
}
