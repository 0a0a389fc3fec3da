/**
 * Whom an address stands for: an IPv4 address itself, also where it comes wrapped in IPv6, and the whole /64 of an IPv6
 * one, since anyone there picks addresses freely.
 */
export function networkOf(address: string): string {
  const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
  if (!plain.includes(':')) return plain.slice(0, 64);
  const [head = '', tail] = plain.split('%')[0]?.split('::') ?? [];
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(gap).fill('0'), ...back].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
