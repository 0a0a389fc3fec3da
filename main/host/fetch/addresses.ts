import { BlockList, isIP } from 'node:net';

/**
 * Addresses that are not public unicast, from the IANA special-purpose registries, and metadata services of clouds
 * outside of them.
 */
const refusedV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
];

/** Only 2000::/3 is public unicast; these ranges within it are not, or lead to an IPv4 address. */
const refusedV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** Prefixes with an IPv4 address in the last 32 bits: mapped addresses, and NAT64. */
const embeddingNetworks = ['::ffff:0:0/96', '64:ff9b::/96'];

const v4 = blockList(refusedV4, 'ipv4');
const v6 = blockList(refusedV6, 'ipv6');
const publicV6 = blockList(['2000::/3'], 'ipv6');
const findEmbeddingNetwork = blockList(embeddingNetworks, 'ipv6');

/** Returns whether only the owner may send requests to an IP address. Text that is not an address is refused. */
export function isRefusedAddress(text: string): boolean {
  const address = text.replace(/%.*$/, '');
  const family = isIP(address);
  if (family === 4) return v4.check(address, 'ipv4');
  if (family !== 6) return true;
  const inner = extractV4(address);
  if (inner !== undefined) return v4.check(inner, 'ipv4');
  return !publicV6.check(address, 'ipv6') || v6.check(address, 'ipv6');
}

function blockList(subnets: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', bits = ''] = subnet.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

/** The URL parser normalizes IPv6 addresses, with the last 32 bits as two groups. */
function extractV4(address: string): string | undefined {
  if (!findEmbeddingNetwork.check(address, 'ipv6')) return undefined;
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':');
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group === '' ? '0' : group, 16));
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
