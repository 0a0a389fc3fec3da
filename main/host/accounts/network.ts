import { isIPv6 } from 'node:net';

/** Returns the network of an address: for IPv6 the /64, within which a client can choose addresses freely. */
export function toAccountNetwork(address: string): string {
  const unmapped = address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
  if (!isIPv6(unmapped)) return unmapped.slice(0, 64);
  const [head = '', tail] = unmapped.split('%')[0]?.split('::') ?? [];
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(gap).fill('0'), ...back].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
