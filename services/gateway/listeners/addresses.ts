import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { networkInterfaces } from 'node:os';

type Interfaces = ReturnType<typeof networkInterfaces>;

/** Compiles addresses and networks into a block list. */
export function createNetworkMatcher(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', length] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return (address) => {
    const [withoutZone = ''] = address.split('%');
    const version = isIP(withoutZone);
    return version !== 0 && list.check(withoutZone, version === 6 ? 'ipv6' : 'ipv4');
  };
}

/** Interface names of containers, virtual machines and tunnels on Linux, macOS and Windows. */
const virtualPrefixes = [
  'docker',
  'podman',
  'br-',
  'veth',
  'virbr',
  'vnet',
  'vmnet',
  'vboxnet',
  'lxc',
  'lxd',
  'incus',
  'cni',
  'flannel',
  'cali',
  'kube',
  'bridge\\d{3}',
  'u?tun',
  'tap',
  'wg',
  'zt',
  'tailscale',
  'nordlynx',
];
const virtualNames = [
  'vEthernet',
  'WSL',
  'Hyper-V',
  'VirtualBox',
  'VMware',
  'VMnet',
  'OpenVPN',
  'WireGuard',
  'ZeroTier',
  'Tailscale',
];
const virtualInterfacePattern = new RegExp(`^(?:${virtualPrefixes.join('|')})|${virtualNames.join('|')}`, 'i');

/**
 * Returns the addresses in admitted networks, ordered by how likely phones can reach them: physical interfaces before
 * virtual ones, the default route before others, IPv4 before IPv6. Link-local addresses are omitted, since browsers
 * cannot use them.
 */
export function findLanAddresses(
  interfaces: Interfaces,
  isAdmitted: (address: string) => boolean,
  defaultRouteAddress?: string,
): readonly string[] {
  const rank = ({ name, address }: { readonly name: string; readonly address: string }): string =>
    [virtualInterfacePattern.test(name), address !== defaultRouteAddress, isIPv6(address)].map(Number).join('');
  return Object.entries(interfaces)
    .flatMap(([name, each]) => (each ?? []).map((info) => ({ name, ...info })))
    .filter(({ internal, address, scopeid }) => !internal && (scopeid ?? 0) === 0 && isAdmitted(address))
    .toSorted((a, b) => rank(a).localeCompare(rank(b)) || a.address.localeCompare(b.address, 'en', { numeric: true }))
    .map(({ address }) => address);
}

/** Returns the source address of the default route. Connecting a UDP socket sends no packet. */
export async function findDefaultRouteAddress(): Promise<string | undefined> {
  const socket = createSocket('udp4');
  try {
    // Documentation address.
    socket.connect(53, '192.0.2.1');
    await once(socket, 'connect');
    return socket.address().address;
  } catch {
    // No default route.
    return undefined;
  } finally {
    socket.close();
  }
}
