/** Where files are, as rclone writes it. */
export type Place =
  | { readonly kind: 'local'; readonly path: string }
  /** A configured remote. */
  | { readonly kind: 'remote'; readonly name: string; readonly path: string }
  /** Anything else that the engine takes: inline remotes, options in the text, relative paths, objects. */
  | { readonly kind: 'inline' };

const remote = /^([\w.+@][\w.+@ -]*):(.*)$/s;

/** Reads what a client gives as `fs`, `srcFs` or `dstFs`. */
export function readPlace(text: unknown, windows = false): Place {
  if (typeof text !== 'string' || text.includes('\0')) return { kind: 'inline' };
  if (windows ? /^[a-z]:[/\\]/i.test(text) : text.startsWith('/')) return { kind: 'local', path: text };
  const [, name, path] = remote.exec(text) ?? [];
  if (name === undefined || path === undefined || (windows && name.length === 1)) return { kind: 'inline' };
  return { kind: 'remote', name, path };
}

/** `..` anywhere: a way out of the folder that was allowed. And `.`: another spelling of one that was refused. */
export function climbs(path: string): boolean {
  return path.split(/[/\\]/).some((part) => part === '..' || part === '.');
}

/** What grants name: a folder with everything in it, so it ends in a slash. The local path must be a real one. */
export function resourceOf(place: Exclude<Place, { readonly kind: 'inline' }>): string {
  const path = place.path.replaceAll('\\', '/').replace(/\/+/g, '/').replace(/\/$/, '');
  if (place.kind === 'local') return `${path}/`;
  return path === '' && place.path === '' ? `${place.name}:` : `${place.name}:${path}/`;
}

/** A folder within another one, or a file. */
export function within(place: string, remotePath: string): string {
  if (remotePath === '') return place;
  return place.endsWith('/') || place.endsWith(':') ? `${place}${remotePath}` : `${place}/${remotePath}`;
}

/** As people read it: options that stand in the text may hold secrets. */
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
