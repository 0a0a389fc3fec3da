import { BlockList, isIP } from 'node:net';

/** This computer and private networks (RFC 1122, 1918, 3927, 4193, 4291, 6598). */
const privateNetworks = [
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10'],
  ...['::1', 'fc00::/7', 'fe80::/10'],
];

/** Returns a test for addresses in one of the networks; without networks, for private addresses. */
export function createNetworkFilter(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks.length === 0 ? privateNetworks : networks) {
    const [address = '', length] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return (address) => {
    const normalized = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
    return isIP(normalized) !== 0 && list.check(normalized, isIP(normalized) === 6 ? 'ipv6' : 'ipv4');
  };
}
