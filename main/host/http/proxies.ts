import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { remoteAddress } from './access.ts';
import type { PublicHost } from './origin.ts';

/** Whether the word of whoever has this address about others is believed. */
export type Trusts = (address: string) => boolean;

/** Compiles addresses and networks: `192.168.1.2`, `10.0.0.0/8`, `::1`. */
export function trustedProxies(networks: readonly string[]): Trusts {
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
 * The client's address. Each proxy adds to X-Forwarded-For whom it got the request from, so the list is read from its end as
 * far as it was written by those who are trusted: what stands before that anybody may have made up.
 */
export function clientAddress(request: IncomingMessage, trusts: Trusts): string {
  let address = remoteAddress(request);
  if (!trusts(address)) return address;
  const hops = headerOf(request, 'x-forwarded-for')?.split(',') ?? [];
  for (const hop of hops.reverse().map((each) => each.trim())) {
    if (isIP(hop) === 0) break;
    address = hop;
    if (!trusts(hop)) break;
  }
  return address;
}

/** The base address that a client wrote; undefined where the request has no name that one can be made of. */
export function publicUrlOf(request: IncomingMessage, trusts: Trusts): string | undefined {
  const isTrusted = trusts(remoteAddress(request));
  const told = isTrusted ? headerOf(request, 'x-forwarded-proto')?.toLowerCase() : undefined;
  const encrypted = (request.socket as Partial<TLSSocket>).encrypted === true;
  const scheme = told === 'http' || told === 'https' ? told : encrypted ? 'https' : 'http';
  const host = (isTrusted ? headerOf(request, 'x-forwarded-host') : undefined) ?? request.headers.host ?? '';
  return /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i.test(host) ? `${scheme}://${host}` : undefined;
}

/** Returns a function that tells the host under which clients reach a listener, a trusted proxy's word included. */
export function publicHostBy(trusts: Trusts): PublicHost {
  return (request) =>
    (trusts(remoteAddress(request)) ? headerOf(request, 'x-forwarded-host') : undefined) ?? request.headers.host;
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
