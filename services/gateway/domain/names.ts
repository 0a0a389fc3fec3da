/** The first label of a machine's name, as one may stand before `.local`. */
export function hostLabel(machine: string): string {
  const label = (machine.split('.')[0] ?? '').toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
  return label.slice(0, 32).replaceAll(/^-+|-+$/g, '') || 'homeport';
}

/** `nas.local` */
export function baseName(label: string): string {
  return `${label}.local`;
}

/** `push.nas.local` */
export function serviceName(id: string, label: string): string {
  return `${id}.${baseName(label)}`;
}

/** The name of a Host header, lower case, without port and closing dot. */
export function withoutPort(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '');
}

/** As an address stands in a URL. */
export function inUrl(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

/** Whether a name can lead nowhere but to this machine itself: no service may take it for its own. */
export function isOfHouse(name: string, label: string, machine: string): boolean {
  const own = hostLabel(machine);
  const bases = [baseName(label), baseName(own), 'localhost'];
  // Systems read as an address whatever ends in a number.
  if (/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name) || name.includes(':') || name.startsWith('[')) return true;
  return (
    name === own || name === machine.toLowerCase() || bases.some((base) => name === base || name.endsWith(`.${base}`))
  );
}

/** Returns an IPv4 address without the prefix that it has on a socket of IPv6. */
export function plainAddress(address = ''): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
