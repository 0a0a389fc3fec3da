import { isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { findLanAddresses } from '../../../services/gateway/listeners/addresses.ts';

type Interfaces = Parameters<typeof findLanAddresses>[0];
const all = (): boolean => true;
/** Creates a computer from the addresses of its interfaces. */
const machine = (interfaces: Readonly<Record<string, readonly string[]>>): Interfaces =>
  Object.fromEntries(
    Object.entries(interfaces).map(([name, addresses]) => [
      name,
      addresses.map((address) => {
        const common = { address, netmask: '', mac: '', cidr: null, internal: name === 'lo' };
        return isIPv6(address)
          ? { ...common, family: 'IPv6' as const, scopeid: address.startsWith('fe80') ? 2 : 0 }
          : { ...common, family: 'IPv4' as const };
      }),
    ]),
  );

describe('network addresses', () => {
  it.each([
    ['docker0', '172.17.0.1'],
    ['br-5f3c9a', '10.0.0.1'],
    ['virbr0', '192.168.122.1'],
    ['tun0', '10.8.0.2'],
    ['wg0', '10.7.0.2'],
    ['tailscale0', '100.64.0.7'],
    ['ztabcdefgh', '10.147.17.5'],
    ['utun4', '10.9.0.2'],
    ['bridge100', '192.168.64.1'],
    ['vEthernet (WSL)', '172.20.96.1'],
    ['VirtualBox Host-Only Network', '192.168.56.1'],
    ['VMware Network Adapter VMnet8', '192.168.5.1'],
  ])('lists addresses of physical interfaces first, and %s last', (name, address) => {
    const interfaces = machine({ lo: ['127.0.0.1'], [name]: [address], eth0: ['192.168.178.20', 'fd00::20'] });
    expect(findLanAddresses(interfaces, all)).toEqual(['192.168.178.20', 'fd00::20', address]);
    // A tunnel may be the default route, but no device of the home network connects through it.
    expect(findLanAddresses(interfaces, all, address)[0]).toBe('192.168.178.20');
  });

  it.each(['br0', 'vmbr0', 'bond0', 'en0', 'wlp3s0', 'Ethernet 2', 'Wi-Fi'])(
    'treats %s as a physical interface',
    (name) => {
      const interfaces = machine({ docker0: ['10.0.0.1'], [name]: ['192.168.1.20'] });
      expect(findLanAddresses(interfaces, all)).toEqual(['192.168.1.20', '10.0.0.1']);
    },
  );

  it('lists the default route first, even when all interfaces are virtual', () => {
    const two = machine({ eth0: ['10.0.0.2'], eth1: ['192.168.1.20'] });
    expect(findLanAddresses(two, all)).toEqual(['10.0.0.2', '192.168.1.20']);
    expect(findLanAddresses(two, all, '192.168.1.20')).toEqual(['192.168.1.20', '10.0.0.2']);
    const windows = machine({ 'vEthernet (WSL)': ['172.20.96.1'], 'vEthernet (Home)': ['192.168.1.20'] });
    expect(findLanAddresses(windows, all, '192.168.1.20')).toEqual(['192.168.1.20', '172.20.96.1']);
  });

  it('omits loopback, link-local and unadmitted networks', () => {
    const interfaces = machine({ lo: ['127.0.0.1'], eth0: ['192.168.1.9', '192.168.1.10', 'fe80::1', '203.0.113.5'] });
    const home = (address: string): boolean => !address.startsWith('203.');
    expect(findLanAddresses(interfaces, home)).toEqual(['192.168.1.9', '192.168.1.10']);
  });
});
