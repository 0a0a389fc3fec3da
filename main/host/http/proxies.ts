import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { getRemoteAddress } from './access.ts';
import type { PublicHost } from './origin.ts';

/** Returns whether the forwarding headers of an address are trusted. */
export type TrustPredicate = (address: string) => boolean;

/** Compiles addresses and networks: `192.168.1.2`, `10.0.0.0/8`, `::1`. */
export function compileTrustedProxies(networks: readonly string[]): TrustPredicate {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', length] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return (address) => {
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
}

/**
 * Returns the client's address. Each proxy appends the address of its client to X-Forwarded-For, so the list is read
 * backwards as long as the writers are trusted: entries before that can be forged.
 */
export function getClientAddress(request: IncomingMessage, trusts: TrustPredicate): string {
  return walkProxies(request, trusts).address;
}

/** Returns the client's address, and the number of trusted proxies between it and the listener. */
function walkProxies(
  request: IncomingMessage,
  trusts: TrustPredicate,
): { readonly address: string; readonly proxies: number } {
  let address = getRemoteAddress(request);
  let proxies = 0;
  if (!trusts(address)) return { address, proxies };
  const hops = getHeader(request, 'x-forwarded-for')?.split(',') ?? [];
  for (const hop of hops.reverse().map((each) => each.trim())) {
    proxies += 1;
    if (isIP(hop) === 0) break;
    address = hop;
    if (!trusts(hop)) break;
  }
  return { address, proxies: Math.max(proxies, 1) };
}

/**
 * Returns the values that the outermost trusted proxy reports. Proxies either replace a header or append to it, so that
 * entries before those of the trusted proxies may be forged.
 */
function getForwarded(request: IncomingMessage, name: string, trusts: TrustPredicate): string | undefined {
  const { proxies } = walkProxies(request, trusts);
  if (proxies === 0) return undefined;
  const entries = getHeader(request, name)?.split(',') ?? [];
  return entries[Math.max(entries.length - proxies, 0)]?.trim() || undefined;
}

/** Returns the base address that a client used; undefined when the request has no valid host name. */
export function findPublicUrl(request: IncomingMessage, trusts: TrustPredicate): string | undefined {
  const forwarded = getForwarded(request, 'x-forwarded-proto', trusts)?.toLowerCase();
  const encrypted = (request.socket as Partial<TLSSocket>).encrypted === true;
  const scheme = forwarded === 'http' || forwarded === 'https' ? forwarded : encrypted ? 'https' : 'http';
  const host = getForwarded(request, 'x-forwarded-host', trusts) ?? request.headers.host ?? '';
  return /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i.test(host) ? `${scheme}://${host}` : undefined;
}

/** Creates a function that returns the host under which clients reach a listener, as reported by trusted proxies. */
export function createPublicHostResolver(trusts: TrustPredicate): PublicHost {
  return (request) => getForwarded(request, 'x-forwarded-host', trusts) ?? request.headers.host;
}

function getHeader({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
