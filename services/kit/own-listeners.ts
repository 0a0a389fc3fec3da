import { networkInterfaces } from 'node:os';

/** One end of a TCP connection, as `Socket.remoteAddress` and `Socket.remotePort` report it. */
export interface ConnectionEndpoints {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
}

/**
 * Checks whether an open connection leads to one of Homeport's own listeners. The ends of the connection are compared
 * instead of the name that was requested, so every spelling of an address, every DNS name and every redirect is covered.
 *
 * @param endpoints the connection after it was established and before a byte of the request was sent
 * @param listeners base addresses of the open listeners, such as `http://127.0.0.1:2586`
 */
export function isOwnListener(endpoints: ConnectionEndpoints, listeners: readonly string[]): boolean {
  const { remoteAddress, remotePort, localAddress } = endpoints;
  if (remoteAddress === undefined || remotePort === undefined) return false;
  const address = normalizeAddress(remoteAddress);
  if (!listeners.some((listener) => parsePort(listener) === remotePort)) return false;
  return address === normalizeAddress(localAddress ?? '') || isAddressOfThisComputer(address);
}

/** Returns whether an IP address, in its plain form, belongs to this computer. */
export function isAddressOfThisComputer(address: string): boolean {
  if (/^(?:127|0)\./.test(address) || address === '::1' || address === '::') return true;
  return Object.values(networkInterfaces()).some((list) => list?.some((each) => each.address === address) === true);
}

/** Returns the port of a base address, that of the scheme where none is written, or undefined for other text. */
function parsePort(address: string): number | undefined {
  const url = URL.parse(address);
  if (url === null) return undefined;
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** Removes the IPv6 prefix of a mapped IPv4 address and the zone of a link-local one. */
function normalizeAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}
