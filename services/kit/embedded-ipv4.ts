import { BlockList, isIPv6 } from 'node:net';

/** Networks whose addresses contain an IPv4 address in the last 32 bits: mapped addresses, and NAT64 (RFC 6052, 8215). */
const embeddingNetworks = [
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
] as const;

const embedding = new BlockList();
for (const [network, prefix] of embeddingNetworks) embedding.addSubnet(network, prefix, 'ipv6');

/** Returns the IPv4 address to which a connection to an IPv6 address leads; undefined for all others. */
export function extractEmbeddedIPv4(address: string): string | undefined {
  if (!isIPv6(address) || !embedding.check(address, 'ipv6')) return undefined;
  // The URL parser normalizes IPv6 addresses, with the last 32 bits as two groups.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':');
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group === '' ? '0' : group, 16));
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
