import { networkInterfaces } from 'node:os';
import { extractEmbeddedIPv4 } from './embedded-ipv4.ts';

/** Endpoints of a TCP connection, as `Socket` reports them. */
export interface ConnectionEndpoints {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
}

/**
 * Returns whether an open connection leads to one of Homeport's own listeners. Comparing the endpoints instead of the
 * requested name covers every spelling of an address, every DNS name and every redirect.
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

/** Returns whether a normalized IP address belongs to this computer. */
export function isAddressOfThisComputer(address: string): boolean {
  if (/^(?:127|0)\./.test(address) || address === '::1' || address === '::') return true;
  return Object.values(networkInterfaces()).some((list) => list?.some((entry) => entry.address === address) === true);
}

/** Returns the port of a base address, by default that of the scheme; undefined for other text. */
function parsePort(address: string): number | undefined {
  const url = URL.parse(address);
  if (url === null) return undefined;
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** Returns the IPv4 address in a mapped or NAT64 address, and removes the zone of a link-local one. */
function normalizeAddress(address: string): string {
  const plain = address.replace(/%.*$/, '');
  return extractEmbeddedIPv4(plain) ?? plain;
}
