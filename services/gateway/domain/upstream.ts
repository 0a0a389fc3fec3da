import { BlockList, isIP } from 'node:net';

/** Another machine's web service, or another program of this one, whose address the owner typed. */
export interface Upstream {
  readonly id: string;
  readonly url: string;
  readonly protocol: 'http' | 'https';
  readonly host: string;
  readonly port: number;
}

/** How one stands in the settings: `photos=http://192.168.1.5:2342`. */
export const upstreamText = /^([a-z][a-z0-9]{0,31})=(https?:\/\/[^\s/?#@]+)\/?$/;

/** Undefined for what is no such text. */
export function upstreamOf(text: string): Upstream | undefined {
  const [, id = '', address = ''] = upstreamText.exec(text) ?? [];
  const url = URL.parse(address);
  if (url === null || url.pathname !== '/' || url.hostname === '') return undefined;
  const protocol = url.protocol === 'https:' ? 'https' : 'http';
  const port = url.port === '' ? (protocol === 'https' ? 443 : 80) : Number(url.port);
  return { id, url: url.origin, protocol, host: url.hostname.replace(/^\[|\]$/g, ''), port };
}

/** Where no service of a home is: what clouds tell their machines, addresses without a router, everybody and nobody. */
const nowhere = new BlockList();
for (const [network, length] of [['169.254.0.0', 16], ['0.0.0.0', 8], ['224.0.0.0', 4], ['240.0.0.0', 4]] as const) nowhere.addSubnet(network, length, 'ipv4'); // prettier-ignore
for (const [network, length] of [['fe80::', 10], ['ff00::', 8], ['::', 128], ['fd00:ec2::254', 128]] as const) nowhere.addSubnet(network, length, 'ipv6'); // prettier-ignore
nowhere.addAddress('100.100.100.200', 'ipv4');

/** Whether requests must not be sent to an address, whoever typed its name. */
export function isNowhere(address: string): boolean {
  const [bare = ''] = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%');
  const version = isIP(bare);
  return version === 0 || nowhere.check(bare, version === 6 ? 'ipv6' : 'ipv4');
}
