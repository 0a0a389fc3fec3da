/** How many bits of an address tell senders apart. */
export interface PrefixBits {
  readonly ipv4: number;
  readonly ipv6: number;
}

/**
 * Whom an address stands for: the network of its first bits. By default an IPv4 address itself, also where it comes wrapped
 * in IPv6, and the whole /64 of an IPv6 one, since anyone there picks addresses freely.
 */
export function networkOf(address: string, bits: PrefixBits = { ipv4: 32, ipv6: 64 }): string {
  const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
  if (!plain.includes(':')) return bits.ipv4 === 32 ? plain.slice(0, 64) : ipv4Network(plain, bits.ipv4);
  const [head = '', tail] = plain.split('%')[0]?.split('::') ?? [];
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(gap).fill('0'), ...back].map((group) => Number.parseInt(group, 16));
  const kept = groups.slice(0, Math.ceil(bits.ipv6 / 16)).map((group, index) => {
    return masked(group, 16, bits.ipv6 - 16 * index).toString(16);
  });
  return `${kept.join(':')}::/${String(bits.ipv6)}`;
}

function ipv4Network(address: string, bits: number): string {
  const kept = address.split('.').map((part, index) => masked(Number(part), 8, bits - 8 * index));
  return `${kept.join('.')}/${String(bits)}`;
}

/** The first bits of a number that has so many. */
function masked(value: number, width: number, bits: number): number {
  const dropped = width - Math.min(Math.max(bits, 0), width);
  return (value >> dropped) << dropped;
}
