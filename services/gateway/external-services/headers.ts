import type { IncomingMessage } from 'node:http';
import { hidesAuthorization } from '../sign-in/gateway-credentials.ts';
import type { Identity } from '../../contracts/control/accounts.ts';

/** Hop-by-hop headers, and headers that only the gateway sets. */
const droppedHeaders = [
  'connection',
  'keep-alive',
  'proxy-.+',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'http2-settings',
  'forwarded',
  'x-forwarded-(?:for|host|proto)',
];
const hopByHopPattern = new RegExp(`^(?:${droppedHeaders.join('|')})$`);

export interface ForwardedRequest {
  /** Signed-in account; undefined when no sign-in was required. */
  readonly identity: Identity | undefined;
  /** Public URL of the request. */
  readonly publicUrl: string | undefined;
  /** Client address. */
  readonly clientAddress: string;
  /** Host header for the upstream when it differs from the client's. */
  readonly host: string | undefined;
  /** A body follows; otherwise length headers are omitted. */
  readonly hasBody: boolean;
}

/** Returns the request headers for an upstream as pairs in their original order. */
export function buildRequestHeaders(
  request: IncomingMessage,
  { identity, publicUrl, clientAddress: from, hasBody, host }: ForwardedRequest,
): string[] {
  const connectionNames = parseConnectionNames(request.headers.connection);
  // Homeport credentials are not passed on; without a sign-in the header belongs to the upstream.
  const isGatewayHeader = (name: string): boolean =>
    (name === 'authorization' && hidesAuthorization(request)) ||
    (name === 'remote-user' && identity !== undefined) ||
    (name === 'host' && host !== undefined);
  const isForwarded = (name: string): boolean =>
    // Some upstreams treat `remote_user` as `Remote-User`.
    !name.includes('_') &&
    !hopByHopPattern.test(name) &&
    !connectionNames.has(name) &&
    !isGatewayHeader(name) &&
    name !== 'cookie';
  const forwarded = filterHeaders(
    request.rawHeaders,
    (name) => isForwarded(name) && (hasBody || name !== 'content-length'),
  );
  const url = URL.parse(publicUrl ?? '');
  const forwardedFor = request.headers['x-forwarded-for'];
  return [
    ...(host === undefined ? [] : ['Host', host]),
    ...forwarded,
    // The parsed headers no longer contain the cookies of the gateway.
    ...(request.headers.cookie === undefined ? [] : ['Cookie', request.headers.cookie]),
    // Trailers are supported.
    ...(/(?:^|,)\s*trailers\s*(?:,|$)/i.test(String(request.headers.te ?? '')) ? ['TE', 'trailers'] : []),
    'X-Forwarded-For',
    typeof forwardedFor === 'string' ? `${forwardedFor}, ${from}` : from,
    ...['X-Forwarded-Proto', url?.protocol === 'http:' ? 'http' : 'https'],
    ...(url === null ? [] : ['X-Forwarded-Host', url.host]),
    ...(identity === undefined ? [] : ['Remote-User', identity.account]),
  ];
}

/** Returns the response headers for the client, without cookies that could be confused with the gateway's. */
export function buildResponseHeaders({
  headers,
  rawHeaders,
  statusCode,
}: Pick<IncomingMessage, 'headers' | 'rawHeaders'> & { readonly statusCode?: number | undefined }): string[] {
  const connectionNames = parseConnectionNames(headers.connection);
  // `Transfer-Encoding` overrides `Content-Length` (RFC 9112, 6.3), and 204 has none (RFC 9110, 8.6).
  const hasLength = headers['transfer-encoding'] === undefined && statusCode !== 204;
  return filterHeaders(
    rawHeaders,
    (name, value) =>
      !hopByHopPattern.test(name) &&
      (hasLength || name !== 'content-length') &&
      !connectionNames.has(name) &&
      !(name === 'set-cookie' && /^\s*__Host-homeport-/i.test(value)),
  );
}

function filterHeaders(raw: readonly string[], isForwarded: (name: string, value: string) => boolean): string[] {
  const forwarded: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = [raw[index], raw[index + 1]];
    if (isForwarded(name.toLowerCase(), value))
      forwarded.push(name, name.toLowerCase() === 'set-cookie' ? stripDomain(value) : value);
  }
  return forwarded;
}

/** `Connection` must not remove framing headers: a body without its length would be parsed as another request. */
function parseConnectionNames(list: string | undefined): ReadonlySet<string> {
  const names = new Set((list ?? '').split(',').map((name) => name.trim().toLowerCase()));
  for (const name of ['content-length', 'host']) names.delete(name);
  return names;
}

/** Removes `Domain` from a cookie, so that an upstream sets none for other services. */
function stripDomain(cookie: string): string {
  return cookie.replaceAll(/;\s*domain\s*(?:=[^;]*)?(?=;|$)/gi, '');
}
