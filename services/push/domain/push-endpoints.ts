/** Default hosts of browser push services. */
export const vendorEndpoints: readonly string[] = [
  '*.googleapis.com',
  '*.google.com',
  '*.mozilla.com',
  '*.mozaws.net',
  '*.windows.com',
  '*.microsoft.com',
  '*.apple.com',
];

/** Entry of the list: a host, `*.` with a domain, or the URL of a self-hosted push service. */
export const endpointEntry = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$|^https?:\/\/[^/\s@]+$/i;

/**
 * Returns the trust level of an endpoint: `owner` when its full origin is configured, which permits push services in
 * the local network. Undefined when no entry matches.
 */
export function getEndpointTrust(endpoint: string, allowedHosts: readonly string[]): 'owner' | 'other' | undefined {
  const url = URL.parse(endpoint);
  if (url === null || url.username !== '' || url.password !== '' || endpoint.length > 2000) return undefined;
  if (allowedHosts.some((entry) => URL.parse(entry)?.origin === url.origin)) return 'owner';
  // Browser endpoints have no port; a port could reach other programs on the same host.
  if (url.protocol !== 'https:' || url.port !== '') return undefined;
  const isAllowed = allowedHosts.some((entry) => {
    const host = entry.toLowerCase();
    return host.startsWith('*.') ? url.hostname.endsWith(host.slice(1)) : url.hostname === host;
  });
  return isAllowed ? 'other' : undefined;
}
