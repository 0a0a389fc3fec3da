/** Returns the first label of a host name in a form that is valid before `.local`. */
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

/** Returns the lower-case name of a Host header without port and trailing dot. */
export function withoutPort(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '');
}

/** Formats an address for a URL. */
export function inUrl(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

/** Returns true for names that always mean this computer; no service may claim them. */
export function isOfHouse(name: string, label: string, machine: string): boolean {
  const own = hostLabel(machine);
  const bases = [baseName(label), baseName(own), 'localhost'];
  // Names that end in a number are parsed as IPv4 addresses.
  if (/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name) || name.includes(':') || name.startsWith('[')) return true;
  return (
    name === own || name === machine.toLowerCase() || bases.some((base) => name === base || name.endsWith(`.${base}`))
  );
}

/** Returns an IPv4 address without the prefix that it has on a socket of IPv6. */
export function plainAddress(address = ''): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
