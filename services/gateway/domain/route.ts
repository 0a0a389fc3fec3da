import { listBaseNames, stripPort } from './names.ts';

/** Target of a request. */
export type Route =
  | { readonly to: 'service'; readonly id: string; readonly url: string }
  /** Path without the trailing slash. */
  | { readonly to: 'redirect'; readonly location: string }
  | { readonly to: 'gateway'; readonly path: string }
  | { readonly to: 'home' }
  | { readonly to: 'nothing' };

/** Request to route. */
export interface RoutedRequest {
  readonly host: string;
  readonly url: string;
  /** Service of the port. */
  readonly portService: string | undefined;
  /** Domain of the owner, below which services have names as below `.local`; empty without one. */
  readonly domain?: string;
}

/** Path prefix of the gateway's pages, on every host and port. */
export const gatewayPrefix = '/.homeport/';

/**
 * Finds the service by host name or custom name (`ownerOf`), else by port, else by path prefix, which is removed for
 * the service. `isShared` is evaluated last, so that services that are not shared look like missing ones. Without
 * `hasPath` a service is only reachable by name.
 */
export function findRoute(
  { host, url, portService, domain = '' }: RoutedRequest,
  label: string,
  isShared: (id: string) => boolean,
  findOwner: (name: string) => string | undefined = () => undefined,
  hasPath: (id: string) => boolean = isShared,
): Route {
  if (url.startsWith(gatewayPrefix)) return { to: 'gateway', path: url.slice(gatewayPrefix.length) };
  const name = stripPort(host);
  const suffix = listBaseNames(label, domain)
    .map((base) => `.${base}`)
    .find((each) => name.endsWith(each));
  if (suffix !== undefined) return toService(name.slice(0, -suffix.length), url, isShared);
  const owner = findOwner(name);
  if (owner !== undefined) return toService(owner, url, isShared);
  if (portService !== undefined) return toService(portService, url, isShared);
  // Well-known path of other forward auth servers.
  if (/^\/api\/verify(?:\?|$)/.test(url)) return { to: 'gateway', path: url.slice('/api/'.length) };
  const [, id = '', remainder = ''] = /^\/([a-z][a-z0-9]{0,31})(.*)$/s.exec(url) ?? [];
  if (isShared(id) && hasPath(id)) {
    if (remainder.startsWith('/')) return { to: 'service', id, url: remainder };
    if (remainder === '' || remainder.startsWith('?')) return { to: 'redirect', location: `/${id}/${remainder}` };
  }
  return url === '/' || url.startsWith('/?') ? { to: 'home' } : { to: 'nothing' };
}

function toService(id: string, url: string, isShared: (id: string) => boolean): Route {
  return isShared(id) ? { to: 'service', id, url } : { to: 'nothing' };
}
