import { baseName, withoutPort } from './names.ts';

/** Target of a request. */
export type Route =
  | { readonly to: 'service'; readonly id: string; readonly url: string }
  /** Path without the trailing slash. */
  | { readonly to: 'redirect'; readonly location: string }
  | { readonly to: 'own'; readonly path: string }
  | { readonly to: 'home' }
  | { readonly to: 'nothing' };

/** Path prefix of the gateway's pages, on every host and port. */
export const ownPrefix = '/.homeport/';

/**
 * Finds the service by host name or custom name (`ownerOf`), else by port, else by path prefix, which is removed for
 * the service. `isShared` is evaluated last, so that services that are not shared look like missing ones. Without
 * `hasPath` a service is only reachable by name.
 */
export function findRoute(
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
  // Well-known path of other forward auth servers.
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
