import { BlockList, isIP } from 'node:net';
import { extractEmbeddedIPv4 } from '../../../services/kit/embedded-ipv4.ts';

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

/** Only 2000::/3 is public unicast; these ranges are not, or lead to an IPv4 address. */
const refusedV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '64:ff9b:1::/48'];

const v4 = blockList(refusedV4, 'ipv4');
const v6 = blockList(refusedV6, 'ipv6');
const publicV6 = blockList(['2000::/3'], 'ipv6');

/** Returns whether only the owner may send requests to an IP address. Text that is not an address is refused. */
export function isRefusedAddress(text: string): boolean {
  const address = text.replace(/%.*$/, '');
  const family = isIP(address);
  if (family === 4) return v4.check(address, 'ipv4');
  if (family !== 6) return true;
  if (v6.check(address, 'ipv6')) return true;
  const inner = extractEmbeddedIPv4(address);
  return inner === undefined ? !publicV6.check(address, 'ipv6') : v4.check(inner, 'ipv4');
}

function blockList(subnets: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', bits = ''] = subnet.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}
