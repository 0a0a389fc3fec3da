/** Returns the first label of a host name in a form that is valid before `.local`. */
export function toHostLabel(hostname: string): string {
  const label = (hostname.split('.')[0] ?? '').toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
  return label.slice(0, 32).replaceAll(/^-+|-+$/g, '') || 'homeport';
}

/** `nas.local` */
export function getBaseName(label: string): string {
  return `${label}.local`;
}

/** `push.nas.local` */
export function getServiceName(id: string, label: string): string {
  return `${id}.${getBaseName(label)}`;
}

/** Returns the lower-case name of a Host header without port and trailing dot. */
export function stripPort(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '');
}

/** Formats an address for a URL. */
export function formatForUrl(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

/** Returns true for names that always mean this computer; no service may claim them. */
export function isReservedName(name: string, label: string, hostname: string): boolean {
  const computerLabel = toHostLabel(hostname);
  const baseNames = [getBaseName(label), getBaseName(computerLabel), 'localhost'];
  // Names that end in a number are parsed as IPv4 addresses.
  if (/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name) || name.includes(':') || name.startsWith('[')) return true;
  return (
    name === computerLabel ||
    name === hostname.toLowerCase() ||
    baseNames.some((base) => name === base || name.endsWith(`.${base}`))
  );
}

/** Returns an IPv4 address without the prefix that it has on a socket of IPv6. */
export function stripMappedPrefix(address = ''): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
