import type { DestinationUrl } from './url.ts';

/** What destinations see as the sender. */
export const userAgent = 'Homeport';

/** Basic credentials of a URL (RFC 7617, in UTF-8); undefined without a user. */
export function basicAuthorization(url: Pick<DestinationUrl, 'user' | 'password'>): string | undefined {
  if (url.user === undefined) return undefined;
  return `Basic ${Buffer.from(`${url.user}:${url.password ?? ''}`, 'utf8').toString('base64')}`;
}

/** Headers that belong to the connection, not to whoever writes the URL. */
const reserved = /^(connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** False for a header no request can carry (RFC 9110, 5.6.2 and 5.5): the text came percent-encoded, so anything may be in it. */
export function isHeader(name: string, value: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name) && !reserved.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
