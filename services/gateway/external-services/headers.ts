import type { IncomingMessage } from 'node:http';
import { hidesAuthorization } from '../sign-in/own-credentials.ts';
import type { Identity } from '../../contracts/control/accounts.ts';

/** Of one connection, and what only the gateway says. */
const ofConnection =
  /^(?:connection|keep-alive|proxy-.+|te|trailer|transfer-encoding|upgrade|expect|http2-settings|forwarded|x-forwarded-(?:for|host|proto))$/;

export interface Passing {
  /** Who signed in in front; undefined where nobody had to. */
  readonly identity: Identity | undefined;
  /** Where the client reached the gateway. */
  readonly outside: string | undefined;
  /** Where the request comes from. */
  readonly from: string;
  /** The Host header that the upstream expects, where it is not that of the client. */
  readonly host: string | undefined;
  /** Without one nothing is said of its length either. */
  readonly hasBody: boolean;
}

/** What an upstream gets to see, as pairs in the order of the request. */
export function requestHeaders(
  request: IncomingMessage,
  { identity, outside, from, hasBody, host }: Passing,
): string[] {
  const listed = namesIn(request.headers.connection);
  // What proved somebody here is for nobody else; without a sign-in in front it is the upstream's own.
  const isOurs = (name: string): boolean =>
    (name === 'authorization' && hidesAuthorization(request)) ||
    (name === 'remote-user' && identity !== undefined) ||
    (name === 'host' && host !== undefined);
  const isPassed = (name: string): boolean =>
    // Many an upstream reads `remote_user` as `Remote-User`.
    !name.includes('_') && !ofConnection.test(name) && !listed.has(name) && !isOurs(name) && name !== 'cookie';
  const passed = pairs(request.rawHeaders, (name) => isPassed(name) && (hasBody || name !== 'content-length'));
  const url = URL.parse(outside ?? '');
  const before = request.headers['x-forwarded-for'];
  return [
    ...(host === undefined ? [] : ['Host', host]),
    ...passed,
    // The cookies of the gateway were taken out of the parsed ones.
    ...(request.headers.cookie === undefined ? [] : ['Cookie', request.headers.cookie]),
    // Trailers are passed on, so that the upstream may send some.
    ...(/(?:^|,)\s*trailers\s*(?:,|$)/i.test(String(request.headers.te ?? '')) ? ['TE', 'trailers'] : []),
    'X-Forwarded-For',
    typeof before === 'string' ? `${before}, ${from}` : from,
    ...['X-Forwarded-Proto', url?.protocol === 'http:' ? 'http' : 'https'],
    ...(url === null ? [] : ['X-Forwarded-Host', url.host]),
    ...(identity === undefined ? [] : ['Remote-User', identity.account]),
  ];
}

/** What a client gets to see of an upstream's answer: no cookie that looks like one of the gateway. */
export function answerHeaders({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): string[] {
  const listed = namesIn(headers.connection);
  // RFC 9112, 6.3: the transfer coding overrides a length that stands beside it.
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

/** What an exchange is made of is of no single connection, whoever says so: a body without its length is a request of its own. */
function namesIn(list: string | undefined): ReadonlySet<string> {
  const names = new Set((list ?? '').split(',').map((name) => name.trim().toLowerCase()));
  for (const name of ['content-length', 'host']) names.delete(name);
  return names;
}

/** A cookie without its `Domain`: an upstream sets none for the other services of the house. */
function ofOneHost(cookie: string): string {
  return cookie.replaceAll(/;\s*domain\s*(?:=[^;]*)?(?=;|$)/gi, '');
}
