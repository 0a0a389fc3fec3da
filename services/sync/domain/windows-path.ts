/**
 * Returns the one spelling of an absolute Windows path that Homeport uses: with `/`, an upper-case drive letter, and
 * without the prefix of long paths and the dots and spaces that Windows ignores at the end of a name. Undefined for a
 * relative path, a device, a stream of a file, and a name of dots and spaces only.
 */
export function normalizeWindowsPath(text: string): string | undefined {
  const path = text
    .replaceAll('\\', '/')
    .replace(/^\/\/\?\/(?:UNC\/|(?=[a-z]:\/))/i, (prefix) => (prefix.toUpperCase() === '//?/UNC/' ? '//' : ''));
  const [, drive, inDrive = ''] = /^([a-z]):\/(.*)$/is.exec(path) ?? [];
  if (drive !== undefined) return joinSegments(`${drive.toUpperCase()}:/`, inDrive);
  const [, server = '', share = '', inShare = ''] = /^\/\/([^/]+)\/+([^/]+)(?:\/(.*))?$/s.exec(path) ?? [];
  if (server === '' || server === '.' || server === '?' || /[:?*]/.test(server + share)) return undefined;
  const root = `//${server.toLowerCase()}/${share}`;
  return inShare === '' ? root : joinSegments(`${root}/`, inShare);
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
  const [, server = '', share = ''] = /^\/\/([^/]+)\/([^/]+)/.exec(path) ?? [];
  if (server === '') return false;
  const isOwnName = ['localhost', ...ownNames].some((name) =>
    isAddress(name) ? server === name : getLabel(server) === getLabel(name),
  );
  return isOwnName || /^127\./.test(server) || server.endsWith('.ipv6-literal.net') || share.endsWith('$');
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
    .map((segment) => (/^\.\.?$/.test(segment) ? segment : segment.replace(/[. ]+$/, '')));
  if (segments.some((segment) => segment === '' || segment.includes(':'))) return undefined;
  return root + segments.join('/');
}
