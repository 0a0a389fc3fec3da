import { isIP } from 'node:net';
import { stripMappedPrefix } from '../domain/names.ts';
import { createNetworkMatcher } from '../listeners/addresses.ts';

/** Cloud metadata, link-local, multicast and unspecified addresses. */
const isInRefusedNetwork = createNetworkMatcher([
  ...['169.254.0.0/16', '0.0.0.0/8', '224.0.0.0/4', '240.0.0.0/4', '100.100.100.200'],
  ...['fe80::/10', 'ff00::/8', '::', 'fd00:ec2::254'],
]);

/** Returns true for addresses that never belong to a home service; connections to them are refused. */
export function isUnreachableHost(address: string): boolean {
  const [plainAddress = ''] = stripMappedPrefix(address).split('%');
  return isIP(plainAddress) === 0 || isInRefusedNetwork(plainAddress);
}
