/** Location of files in rclone's notation. */
export type Place =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 'remote'; readonly name: string; readonly path: string }
  /** Other inputs that the engine accepts: inline remotes, options in the text, relative paths, objects. */
  | { readonly kind: 'inline' };

const remote = /^([\w.+@][\w.+@ -]*):(.*)$/s;

/** Parses a client's `fs`, `srcFs` or `dstFs`. */
export function readPlace(text: unknown, windows = false): Place {
  if (typeof text !== 'string' || text.includes('\0')) return { kind: 'inline' };
  if (windows ? /^[a-z]:[/\\]/i.test(text) : text.startsWith('/')) return { kind: 'local', path: text };
  const [, name, path] = remote.exec(text) ?? [];
  if (name === undefined || path === undefined || (windows && name.length === 1)) return { kind: 'inline' };
  return { kind: 'remote', name, path };
}

/** Returns true if a path contains `..`, which leaves an allowed folder, or `.`, which is another spelling of a denied one. */
export function climbs(path: string): boolean {
  return path.split(/[/\\]/).some((part) => part === '..' || part === '.');
}

/** Returns the resource that grants name: a folder with a trailing slash. A local path must be resolved (realpath). */
export function resourceOf(place: Exclude<Place, { readonly kind: 'inline' }>): string {
  const path = place.path.replaceAll('\\', '/').replace(/\/+/g, '/').replace(/\/$/, '');
  if (place.kind === 'local') return `${path}/`;
  return path === '' && place.path === '' ? `${place.name}:` : `${place.name}:${path}/`;
}

/** Joins a location and the path of a folder or file in it. */
export function within(place: string, remotePath: string): string {
  if (remotePath === '') return place;
  return place.endsWith('/') || place.endsWith(':') ? `${place}${remotePath}` : `${place}/${remotePath}`;
}

/** Formats a location for display, without options in the text, which may contain secrets. */
export function shownPlace(given: unknown): string {
  if (typeof given === 'object' && given !== null) {
    const { type, _name: name, _root: root } = given as Record<string, unknown>;
    return `${typeof name === 'string' ? name : `:${typeof type === 'string' ? type : ''}`}:${typeof root === 'string' ? root : ''}`;
  }
  if (typeof given !== 'string') return '';
  const head = /^:?[^/,:]+(?=,)/.exec(given)?.[0];
  if (head === undefined) return given;
  let quote = '';
  for (let at = head.length; at < given.length; at++) {
    const letter = given.charAt(at);
    if (quote !== '') quote = letter === quote ? '' : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === ':') return `${head}${given.slice(at)}`;
  }
  return head;
}
