import type { IncomingMessage } from 'node:http';
import type { CrossOrigin } from '../../../services/contracts/listeners.ts';

/** Returns whether a method changes nothing; another site may send it, but cannot read the response. */
export function isSafe(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/** Sender of a request, as far as a browser reports it. */
export type Sender = 'same-origin' | 'no browser' | 'allowed origin' | 'other origin';

/** Returns the host under which the client reached the listener: behind a trusted proxy the one that it reports. */
export type PublicHost = (request: IncomingMessage) => string | undefined;

const hostHeader: PublicHost = ({ headers }) => headers.host;

/**
 * Classifies the sender of a request. Pages with `Referrer-Policy: no-referrer` send `Origin: null` with their own
 * forms; only the browser's `Sec-Fetch-Site: same-origin` distinguishes these from forms of other pages.
 */
export function classifySender(
  request: IncomingMessage,
  isAllowed: (origin: string) => boolean,
  publicHost: PublicHost = hostHeader,
): Sender {
  const { origin } = request.headers;
  if (origin !== undefined) {
    if (isSameOrigin(origin, publicHost(request))) return 'same-origin';
    if (origin === 'null' && request.headers['sec-fetch-site'] === 'same-origin') return 'same-origin';
    return isAllowed(origin) ? 'allowed origin' : 'other origin';
  }
  const site = request.headers['sec-fetch-site'];
  if (site === undefined) return 'no browser';
  // `none`: the user entered the address or opened a bookmark.
  return site === 'same-origin' || site === 'none' ? 'same-origin' : 'other origin';
}

/** Origins of extensions: the user installed them, and no page can impersonate them. */
const extension = /^(?:chrome|moz|safari-web)-extension:\/\//;

/**
 * Returns whether the browser reports that a page of another site caused the request, by an image, a form or a link.
 * Old browsers, and all browsers on plain http to another computer, do not report images.
 */
export function isCrossSiteRequest(
  request: IncomingMessage,
  isAllowed: (origin: string) => boolean,
  publicHost?: PublicHost,
): boolean {
  return (
    classifySender(request, isAllowed, publicHost) === 'other origin' && !extension.test(request.headers.origin ?? '')
  );
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  if (host === undefined) return false;
  const scheme = origin.startsWith('http://') ? 7 : origin.startsWith('https://') ? 8 : 0;
  if (scheme === 0 || origin.length !== scheme + host.length) return false;
  return origin.endsWith(host) || origin.toLowerCase().endsWith(host.toLowerCase());
}

/**
 * Returns whether a state-changing request or a WebSocket of another origin may pass. Under `credentialed` it must
 * carry its own credentials; a form or an image cannot, but makes the browser add stored Basic credentials, so the
 * fetch mode is checked as well. An extension may send credentials in the address, since a WebSocket has no custom
 * headers.
 */
export function allowsCrossOrigin(policy: CrossOrigin, request: IncomingMessage): boolean {
  if (policy === 'any') return true;
  if (policy === 'refuse') return false;
  if (hasAuthQuery(request.url)) return extension.test(request.headers.origin ?? '');
  if (request.headers.authorization === undefined) return false;
  const mode = request.headers['sec-fetch-mode'];
  return mode === undefined || mode === 'cors' || mode === 'websocket';
}

/** Returns whether the address contains credentials, as clients of ntfy send them. */
export function hasAuthQuery(url: string | undefined): boolean {
  const start = url?.indexOf('?') ?? -1;
  if (start < 0) return false;
  const query = new URLSearchParams(url?.slice(start + 1));
  return query.has('auth') || query.has('authorization');
}
