/** Prefix lengths by which addresses are grouped. */
export interface PrefixBits {
  readonly ipv4: number;
  readonly ipv6: number;
}

/**
 * Returns the network of an address. By default an IPv4 address is its own network, also when mapped into IPv6, and
 * an IPv6 address belongs to its /64, within which a client can choose addresses freely.
 */
export function toNetwork(address: string, bits: PrefixBits = { ipv4: 32, ipv6: 64 }): string {
  const unmapped = address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
  if (!unmapped.includes(':')) return bits.ipv4 === 32 ? unmapped.slice(0, 64) : toIpv4Network(unmapped, bits.ipv4);
  const [head = '', tail] = unmapped.split('%')[0]?.split('::') ?? [];
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(gap).fill('0'), ...back].map((group) => Number.parseInt(group, 16));
  const prefixGroups = groups.slice(0, Math.ceil(bits.ipv6 / 16)).map((group, index) => {
    return maskBits(group, 16, bits.ipv6 - 16 * index).toString(16);
  });
  return `${prefixGroups.join(':')}::/${String(bits.ipv6)}`;
}

function toIpv4Network(address: string, bits: number): string {
  const prefixGroups = address.split('.').map((part, index) => maskBits(Number(part), 8, bits - 8 * index));
  return `${prefixGroups.join('.')}/${String(bits)}`;
}

/** Returns the first bits of a number with the given width. */
function maskBits(value: number, width: number, bits: number): number {
  const dropped = width - Math.min(Math.max(bits, 0), width);
  return (value >> dropped) << dropped;
}
