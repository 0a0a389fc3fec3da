/**
 * Private and reserved addresses. Some resolvers at home return addresses of 198.18.0.0/15, which are treated as
 * public.
 */
const privateV4 = new RegExp(
  [
    String.raw`^(?:0|10|127)\.`,
    String.raw`^169\.254\.`,
    String.raw`^192\.168\.`,
    String.raw`^192\.0\.[02]\.`,
    String.raw`^172\.(?:1[6-9]|2\d|3[01])\.`,
    String.raw`^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.`,
    String.raw`^198\.(?:1[89]|51)\.`,
    String.raw`^203\.0\.113\.`,
    String.raw`^168\.63\.129\.16$`,
    String.raw`^(?:22[4-9]|2[3-5]\d)\.`,
  ].join('|'),
);

/** Returns true when an IP address is public. */
export function isPublicAddress(address: string): boolean {
  const normalized = normalizeAddress(address);
  if (normalized.includes(':')) return /^[23][0-9a-f]{3}:/.test(normalized);
  return !privateV4.test(normalized);
}

/** Removes the zone, and converts IPv6 addresses that contain an IPv4 address (mapped or NAT64) to the IPv4 address. */
export function normalizeAddress(address: string): string {
  const normalized = address.toLowerCase().replace(/%.*$/, '');
  const ipv4 = /^(?:::ffff:|64:ff9b::)(\d+\.\d+\.\d+\.\d+)$/.exec(normalized)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const match = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(normalized);
  if (match === null) return normalized;
  const [high, low] = [Number.parseInt(match[1] ?? '0', 16), Number.parseInt(match[2] ?? '0', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
