import type { IncomingMessage } from 'node:http';
import { hidesAuthorization } from '../sign-in/gateway-credentials.ts';
import type { Identity } from '../../contracts/control/accounts.ts';

/** Hop-by-hop headers, and headers that only the gateway sets. */
const ofConnection =
  /^(?:connection|keep-alive|proxy-.+|te|trailer|transfer-encoding|upgrade|expect|http2-settings|forwarded|x-forwarded-(?:for|host|proto))$/;

export interface Passing {
  /** Signed-in account; undefined when no sign-in was required. */
  readonly identity: Identity | undefined;
  /** Public URL of the request. */
  readonly outside: string | undefined;
  /** Client address. */
  readonly from: string;
  /** Host header for the upstream when it differs from the client's. */
  readonly host: string | undefined;
  /** A body follows; otherwise length headers are omitted. */
  readonly hasBody: boolean;
}

/** Returns the request headers for an upstream as pairs in their original order. */
export function requestHeaders(
  request: IncomingMessage,
  { identity, outside, from, hasBody, host }: Passing,
): string[] {
  const listed = namesIn(request.headers.connection);
  // Homeport credentials are not passed on; without a sign-in the header belongs to the upstream.
  const isOurs = (name: string): boolean =>
    (name === 'authorization' && hidesAuthorization(request)) ||
    (name === 'remote-user' && identity !== undefined) ||
    (name === 'host' && host !== undefined);
  const isPassed = (name: string): boolean =>
    // Some upstreams treat `remote_user` as `Remote-User`.
    !name.includes('_') && !ofConnection.test(name) && !listed.has(name) && !isOurs(name) && name !== 'cookie';
  const passed = pairs(request.rawHeaders, (name) => isPassed(name) && (hasBody || name !== 'content-length'));
  const url = URL.parse(outside ?? '');
  const before = request.headers['x-forwarded-for'];
  return [
    ...(host === undefined ? [] : ['Host', host]),
    ...passed,
    // The parsed headers no longer contain the cookies of the gateway.
    ...(request.headers.cookie === undefined ? [] : ['Cookie', request.headers.cookie]),
    // Trailers are supported.
    ...(/(?:^|,)\s*trailers\s*(?:,|$)/i.test(String(request.headers.te ?? '')) ? ['TE', 'trailers'] : []),
    'X-Forwarded-For',
    typeof before === 'string' ? `${before}, ${from}` : from,
    ...['X-Forwarded-Proto', url?.protocol === 'http:' ? 'http' : 'https'],
    ...(url === null ? [] : ['X-Forwarded-Host', url.host]),
    ...(identity === undefined ? [] : ['Remote-User', identity.account]),
  ];
}

/** Returns the response headers for the client, without cookies that could be confused with the gateway's. */
export function answerHeaders({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): string[] {
  const listed = namesIn(headers.connection);
  // RFC 9112, 6.3: `Transfer-Encoding` overrides `Content-Length`.
  const isChunked = headers['transfer-encoding'] !== undefined;
  return pairs(
    rawHeaders,
    (name, value) =>
      !ofConnection.test(name) &&
      !(isChunked && name === 'content-length') &&
      !listed.has(name) &&
      !(name === 'set-cookie' && /^\s*__Host-homeport-/i.test(value)),
  );
}

function pairs(raw: readonly string[], isPassed: (name: string, value: string) => boolean): string[] {
  const passed: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    if (isPassed(name.toLowerCase(), value))
      passed.push(name, name.toLowerCase() === 'set-cookie' ? ofOneHost(value) : value);
  }
  return passed;
}

/** `Connection` must not remove framing headers: a body without its length would be parsed as another request. */
function namesIn(list: string | undefined): ReadonlySet<string> {
  const names = new Set((list ?? '').split(',').map((name) => name.trim().toLowerCase()));
  for (const name of ['content-length', 'host']) names.delete(name);
  return names;
}

/** Removes `Domain` from a cookie, so that an upstream sets none for other services. */
function ofOneHost(cookie: string): string {
  return cookie.replaceAll(/;\s*domain\s*(?:=[^;]*)?(?=;|$)/gi, '');
}
