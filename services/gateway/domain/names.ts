const maxLabelLength = 32;

/** Returns the first label of a host name in a form that is valid before `.local`. */
export function toHostLabel(hostname: string): string {
  const label = (hostname.split('.')[0] ?? '').toLowerCase().replaceAll(/[^a-z0-9-]/g, '-');
  return label.slice(0, maxLabelLength).replaceAll(/^-+|-+$/g, '') || 'homeport';
}

const ownSuffix = '-homeport';

/** Returns a label of Homeport's own that differs from the host name, such as `anna-imac-homeport`. */
export function buildOwnLabel(hostname: string): string {
  // macOS adds a number to the host name when another computer has the same one.
  const base = toHostLabel(hostname)
    .replace(/-\d{1,2}$/, '')
    .slice(0, maxLabelLength - ownSuffix.length)
    .replace(/-+$/, '');
  return `${base}${ownSuffix}`;
}

/** Returns whether a text is a label as {@link toHostLabel} returns it. */
export function isHostLabel(text: string): boolean {
  return text !== '' && toHostLabel(text) === text;
}

/**
 * Returns the names of the certificate. `computerLabel` is undefined where the host name follows the network, since the
 * certificate would be issued again with each network.
 */
export function listCertificateNames(
  label: string,
  {
    computerLabel,
    addresses,
    customHosts,
  }: {
    readonly computerLabel: string | undefined;
    readonly addresses: readonly string[];
    readonly customHosts: readonly string[];
  },
): readonly string[] {
  const base = getBaseName(label);
  const computerNames = computerLabel === undefined ? [] : [computerLabel];
  return [...new Set([base, `*.${base}`, ...computerNames, 'localhost', ...addresses, ...customHosts])];
}

/** `nas.local` */
export function getBaseName(label: string): string {
  return `${label}.local`;
}

/** Returns the names below which services have theirs: `nas.local`, and the domain of the owner if there is one. */
export function listBaseNames(label: string, domain: string): readonly string[] {
  return domain === '' ? [getBaseName(label)] : [getBaseName(label), domain];
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
export function isReservedName(name: string, label: string, hostname: string, domain = ''): boolean {
  const computerLabel = toHostLabel(hostname);
  const baseNames = [...listBaseNames(label, domain), getBaseName(computerLabel), 'localhost'];
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
