/** Where browsers' vendors take web push messages. */
export const vendorEndpoints: readonly string[] = [
  '*.googleapis.com',
  '*.google.com',
  '*.mozilla.com',
  '*.mozaws.net',
  '*.windows.com',
  '*.microsoft.com',
  '*.apple.com',
];

/** One entry of the list: a host, `*.` and a domain, or the address of a push service of one's own. */
export const endpointEntry = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$|^https?:\/\/[^/\s@]+$/i;

/**
 * Whether messages may be sent to this endpoint, and who vouches for it: `owner` where the whole address was listed, so
 * that a push service in the own network can be reached. Undefined when nothing in the list covers it.
 */
export function trustedEndpoint(endpoint: string, allowed: readonly string[]): 'owner' | 'other' | undefined {
  const url = URL.parse(endpoint);
  if (url === null || url.username !== '' || url.password !== '' || endpoint.length > 2000) return undefined;
  if (allowed.some((entry) => URL.parse(entry)?.origin === url.origin)) return 'owner';
  // A browser's endpoint has no port; one would be a way to other programs of the same host.
  if (url.protocol !== 'https:' || url.port !== '') return undefined;
  const covered = allowed.some((entry) => {
    const host = entry.toLowerCase();
    return host.startsWith('*.') ? url.hostname.endsWith(host.slice(1)) : url.hostname === host;
  });
  return covered ? 'other' : undefined;
}
