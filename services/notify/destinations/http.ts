import type { DestinationUrl } from './url.ts';

/** What destinations see as the sender. */
export const userAgent = 'Homeport';

/** Basic credentials of a URL (RFC 7617, in UTF-8); undefined without a user. */
export function basicAuthorization(url: Pick<DestinationUrl, 'user' | 'password'>): string | undefined {
  if (url.user === undefined) return undefined;
  return `Basic ${Buffer.from(`${url.user}:${url.password ?? ''}`, 'utf8').toString('base64')}`;
}
