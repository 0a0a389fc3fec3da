import { baseName, withoutPort } from './names.ts';

/** What a request is for. */
export type Route =
  | { readonly to: 'service'; readonly id: string; readonly url: string }
  /** A folder's name without its slash. */
  | { readonly to: 'redirect'; readonly location: string }
  | { readonly to: 'own'; readonly path: string }
  | { readonly to: 'home' }
  | { readonly to: 'nothing' };

/** Where the gateway's own pages are, on every host and port: no service has such a path. */
export const ownPrefix = '/.homeport/';

/**
 * The service by host name, also one of its own (`ownerOf`), else by the port it came to, else by the beginning of its path,
 * which the service does not see. `isShared` decides last, so that what is not shared looks like what does not exist. Without
 * `hasPath` only its name leads there.
 */
export function routeOf(
  { host, url, portOf }: { readonly host: string; readonly url: string; readonly portOf: string | undefined },
  label: string,
  isShared: (id: string) => boolean,
  ownerOf: (name: string) => string | undefined = () => undefined,
  hasPath: (id: string) => boolean = isShared,
): Route {
  if (url.startsWith(ownPrefix)) return { to: 'own', path: url.slice(ownPrefix.length) };
  const name = withoutPort(host);
  const suffix = `.${baseName(label)}`;
  if (name.endsWith(suffix)) return toService(name.slice(0, -suffix.length), url, isShared);
  const owner = ownerOf(name);
  if (owner !== undefined) return toService(owner, url, isShared);
  if (portOf !== undefined) return toService(portOf, url, isShared);
  // Where proxies look for it that were set up for another one.
  if (/^\/api\/verify(?:\?|$)/.test(url)) return { to: 'own', path: url.slice('/api/'.length) };
  const [, id = '', rest = ''] = /^\/([a-z][a-z0-9]{0,31})(.*)$/s.exec(url) ?? [];
  if (isShared(id) && hasPath(id)) {
    if (rest.startsWith('/')) return { to: 'service', id, url: rest };
    if (rest === '' || rest.startsWith('?')) return { to: 'redirect', location: `/${id}/${rest}` };
  }
  return url === '/' || url.startsWith('/?') ? { to: 'home' } : { to: 'nothing' };
}

function toService(id: string, url: string, isShared: (id: string) => boolean): Route {
  return isShared(id) ? { to: 'service', id, url } : { to: 'nothing' };
}
