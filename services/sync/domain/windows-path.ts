/**
 * Returns the one spelling of an absolute Windows path that Homeport uses: with `/`, an upper-case drive letter, and
 * without the prefixes of long paths and of devices and the dots and spaces that Windows ignores at the end of a name.
 * Undefined for a relative path, any other device, a stream of a file (`file::$DATA`), and a name of dots and spaces
 * only.
 */
export function normalizeWindowsPath(text: string): string | undefined {
  const path = text
    .replaceAll('\\', '/')
    .replace(/^\/\/[?.]\/(?:UNC\/|(?=[a-z]:\/))/i, (prefix) => (prefix.length > 4 ? '//' : ''));
  const [, drive, inDrive = ''] = /^([a-z]):\/(.*)$/is.exec(path) ?? [];
  if (drive !== undefined) return joinSegments(`${drive.toUpperCase()}:/`, inDrive);
  const [, server = '', share = '', inShare = ''] = /^\/\/([^/]+)\/+([^/]+)(?:\/(.*))?$/s.exec(path) ?? [];
  const [serverName, shareName] = [trimName(server).toLowerCase(), trimName(share)];
  if (serverName === '' || shareName === '' || /[:?*]/.test(server + share)) return undefined;
  const root = `//${serverName}/${shareName}`;
  return inShare === '' ? root : joinSegments(`${root}/`, inShare);
}

/**
 * Returns the pattern of a grant with its literal folder in the spelling of {@link normalizeWindowsPath}, so that a
 * denied folder is recognized.
 */
export function normalizeWindowsPattern(pattern: string): string {
  const { folder, rest } = splitPattern(pattern.replaceAll('\\', '/'));
  const path = normalizeWindowsPath(folder);
  if (path === undefined) return folder + rest;
  return `${path.replace(/\/$/, '')}/${rest.replace(/(?<=^|\/)[^/*]+(?=\/|$)/g, trimName)}`;
}

/** Splits a pattern into the folder before its first wildcard and the rest. */
export function splitPattern(pattern: string): { readonly folder: string; readonly rest: string } {
  const star = pattern.indexOf('*');
  const length = pattern.lastIndexOf('/', star === -1 ? pattern.length : star) + 1;
  return { folder: pattern.slice(0, length), rest: pattern.slice(length) };
}

/** Returns whether a normalized path is a network folder itself, which has no parent folder. */
export function isShareRoot(path: string): boolean {
  return /^\/\/[^/]+\/[^/]+\/?$/.test(path);
}

/**
 * Returns whether a normalized path may be another spelling of a folder of this computer: a share of its own, or a share
 * that administrators reach whole drives by.
 *
 * @param ownNames Host name and addresses of this computer.
 */
export function isShareOfThisComputer(path: string, ownNames: readonly string[]): boolean {
  const [, share = ''] = /^\/\/[^/]+\/([^/]+)/.exec(path) ?? [];
  const server = toHost(findServer(path) ?? '');
  if (server === '') return false;
  const isOwnName = ['localhost', '::1', ...ownNames].some((name) =>
    isAddress(name) ? server === name.toLowerCase() : getLabel(server) === getLabel(name),
  );
  return isOwnName || /^(?:127|0)\./.test(server) || server.endsWith('.ipv6-literal.net') || share.endsWith('$');
}

/** Returns the server of a normalized path, without the port and the protocol of a WebDAV server. */
export function findServer(path: string): string | undefined {
  return /^\/\/([^/@]+)/.exec(path)?.[1];
}

/** Returns a server in the spelling of host names and addresses: `127.1` and `0x7f000001` are addresses, too. */
function toHost(server: string): string {
  const name = trimName(server);
  return URL.parse(`http://${name}`)?.hostname ?? name.toLowerCase();
}

/** Removes the dots and spaces that Windows ignores at the end of a name. */
function trimName(name: string): string {
  return name.replace(/[. ]+$/, '');
}

function isAddress(name: string): boolean {
  return /^[\d.]+$/.test(name) || name.includes(':');
}

function getLabel(name: string): string | undefined {
  return name.toLowerCase().split('.')[0];
}

function joinSegments(root: string, rest: string): string | undefined {
  const segments = rest
    .split('/')
    .filter((segment) => segment !== '')
    // Callers refuse `.` and `..`.
    .map((segment) => (/^\.\.?$/.test(segment) ? segment : trimName(segment)));
  if (segments.some((segment) => segment === '' || segment.includes(':'))) return undefined;
  return root + segments.join('/');
}
