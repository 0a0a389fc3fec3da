import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { extractEmbeddedIPv4 } from '../../kit/embedded-ipv4.ts';
import { createSettingsFailure } from './failure.ts';
import { cachedLookup } from './names.ts';

/** Addresses that monitors must not reach. */
export interface TargetPolicy {
  /** Addresses of Homeport's listeners, such as `http://127.0.0.1:8000`. */
  readonly ownListeners: readonly string[];
  /** Allows link-local addresses and the metadata addresses of cloud providers. */
  readonly allowLinkLocal: boolean;
}

/** `connect` sends no data. `public` requests a public page. */
export type TargetUse = 'connect' | 'public' | 'exchange';

const interfacesCachedMs = 5000;

const linkLocal = new BlockList();
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4');
linkLocal.addSubnet('fe80::', 10, 'ipv6');
for (const address of ['100.100.100.200', '168.63.129.16', '192.0.0.192']) linkLocal.addAddress(address, 'ipv4');
linkLocal.addAddress('fd00:ec2::254', 'ipv6');

let policy: TargetPolicy = { ownListeners: [], allowLinkLocal: false };
let homeportPorts: ReadonlySet<number> = new Set();
let localAddresses = { list: new BlockList(), until: 0 };

export function setTargetPolicy(next: TargetPolicy): void {
  policy = next;
  homeportPorts = new Set(next.ownListeners.flatMap((address) => getPort(address) ?? []));
}

/**
 * Rejects a forbidden address. Called after name resolution, so that names and redirects cannot circumvent the policy.
 * @throws CheckFailure with the reason
 */
export function assertAllowedTarget(host: string, port: number, use: TargetUse): void {
  const plain = host.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const address = extractEmbeddedIPv4(plain) ?? plain;
  const family = isIP(address);
  if (family === 0) return;
  const type = family === 6 ? 'ipv6' : 'ipv4';
  if (!policy.allowLinkLocal && linkLocal.check(address, type)) {
    throw createSettingsFailure('link_local_refused', { address });
  }
  if (use === 'exchange' && homeportPorts.has(port) && getLocalAddresses().check(address, type)) {
    throw createSettingsFailure('own_port_refused', { port: String(port) });
  }
}

/** Resolves names for a connection to `port`, and fails for forbidden addresses. */
export function guardedLookup(port: number, use: TargetUse): LookupFunction {
  return (host, options, callback) => {
    cachedLookup(host, options, (error, result, family) => {
      try {
        const list = typeof result === 'string' ? [result] : result.map(({ address }) => address);
        if (error === null) for (const address of list) assertAllowedTarget(address, port, use);
        callback(error, result, family);
      } catch (refusal) {
        callback(refusal as NodeJS.ErrnoException, '', 0);
      }
    });
  };
}

function getLocalAddresses(): BlockList {
  const now = performance.now();
  if (localAddresses.until > now) return localAddresses.list;
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8, 'ipv4');
  list.addSubnet('0.0.0.0', 8, 'ipv4');
  list.addAddress('::1', 'ipv6');
  list.addAddress('::', 'ipv6');
  for (const { address, family } of Object.values(networkInterfaces()).flatMap((one) => one ?? [])) {
    list.addAddress(address, family === 'IPv6' ? 'ipv6' : 'ipv4');
  }
  localAddresses = { list, until: now + interfacesCachedMs };
  return list;
}

function getPort(address: string): number | undefined {
  const url = URL.parse(address);
  if (url === null) return undefined;
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}
