import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Compiles addresses and networks. */
export function inNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', length] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return (address) => {
    const [plain = ''] = address.split('%');
    const version = isIP(plain);
    return version !== 0 && list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
  };
}

/**
 * The addresses of this machine on its networks, as far as they lie in those that are let in. Link-local ones are left out: a
 * browser cannot name them.
 */
export function lanAddresses(isLetIn: (address: string) => boolean): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, address, scopeid }) => !internal && (scopeid ?? 0) === 0 && isLetIn(address))
    .map(({ address }) => address)
    .toSorted();
}
