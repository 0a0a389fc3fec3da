import * as m from '#messages/host-problems';
import { Problem } from '../../../services/contracts/problem.ts';
import { isSecretName } from '../log/redact.ts';
import { decodePercentEncoding } from '../../../services/contracts/percent-encoding.ts';

/** Request of an exchange; a redirect leads to the next one. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/**
 * Returns the first hop. Credentials in the address become an Authorization header, so that they appear nowhere else.
 */
export function firstHop(
  address: string,
  method: string,
  options: Readonly<Record<string, string>>,
  body: Hop['body'],
): Hop {
  const url = parse(address);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options)) headers[name.toLowerCase()] = value;
  if (url.username !== '' || url.password !== '') {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers['authorization'] ??= `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  return { url: withoutBody(url), method: method.toUpperCase(), headers, body };
}

/**
 * Returns the hop after a redirect, or undefined for other responses. Credentials are removed when the origin
 * changes; a TLS request with credentials or a body is not redirected to plain HTTP.
 * @throws Problem `fetch.failed` (502).
 */
export function nextHop(hop: Hop, status: number, location: string | undefined, keepMethod = false): Hop | undefined {
  if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) return undefined;
  const url = withoutBody(parse(location, hop.url));
  const toGet = status === 303 ? hop.method !== 'HEAD' : status < 303 && hop.method === 'POST' && !keepMethod;
  const keptHeaders = toGet ? { ...hop, method: 'GET', body: undefined } : hop;
  const hasSecret = Object.keys(hop.headers).some(isSecretName) || keptHeaders.body !== undefined;
  if (hop.url.protocol === 'https:' && url.protocol === 'http:' && hasSecret) {
    throw new Problem('fetch.failed', 502, () => m.redirectUnencrypted({ host: hop.url.host }));
  }
  const sameOrigin = url.origin === hop.url.origin;
  const headers = Object.entries(keptHeaders.headers).filter(
    ([name]) => (sameOrigin || !(isSecretName(name) || name === 'host')) && !(toGet && name.startsWith('content-')),
  );
  return { ...keptHeaders, url, headers: Object.fromEntries(headers) };
}

function parse(address: string, base?: URL): URL {
  const url = URL.parse(address, base?.href);
  if (url === null || decodePercentEncoding(url.username + url.password) === undefined) {
    throw new Problem('fetch.failed', 502, m.invalidUrl);
  }
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new Problem('fetch.failed', 502, () => m.unsupportedScheme({ scheme: url.protocol.slice(0, 20) }));
}

/** Modifies the URL, which was just parsed and is not shared. */
function withoutBody(url: URL): URL {
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  if (url.hash !== '') url.hash = '';
  return url;
}
