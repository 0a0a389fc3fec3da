import type { IncomingMessage } from 'node:http';
import type { CrossOrigin } from '../../../services/contracts/listeners.ts';

/** Methods that change nothing; another site may send them, but does not get to read the answer. */
export function isSafe(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/** Who sent a request, as far as a browser tells. */
export type Sender = 'same-origin' | 'no browser' | 'allowed origin' | 'other origin';

/** Returns the host under which the client reached the listener: behind a trusted proxy the one that it reports. */
export type PublicHost = (request: IncomingMessage) => string | undefined;

const hostHeader: PublicHost = ({ headers }) => headers.host;

/**
 * Tells who sent a request. Pages with `Referrer-Policy: no-referrer` send `Origin: null` with their own forms; only
 * the browser's `Sec-Fetch-Site: same-origin` distinguishes these from forms of other pages.
 */
export function senderOf(
  request: IncomingMessage,
  isAllowed: (origin: string) => boolean,
  publicHost: PublicHost = hostHeader,
): Sender {
  const { origin } = request.headers;
  if (origin !== undefined) {
    if (isOriginOf(origin, publicHost(request))) return 'same-origin';
    if (origin === 'null' && request.headers['sec-fetch-site'] === 'same-origin') return 'same-origin';
    return isAllowed(origin) ? 'allowed origin' : 'other origin';
  }
  const site = request.headers['sec-fetch-site'];
  if (site === undefined) return 'no browser';
  // `none`: the person typed the address or opened a bookmark.
  return site === 'same-origin' || site === 'none' ? 'same-origin' : 'other origin';
}

/** What extensions send: the person installed them, and no page can pass for one. */
const extension = /^(?:chrome|moz|safari-web)-extension:\/\//;

/**
 * Whether the browser says that a page of another site makes it send this, be it an image, a form or a link. An old browser,
 * and any browser on plain http to another machine, says nothing of an image.
 */
export function isFromForeignSite(
  request: IncomingMessage,
  isAllowed: (origin: string) => boolean,
  publicHost?: PublicHost,
): boolean {
  return senderOf(request, isAllowed, publicHost) === 'other origin' && !extension.test(request.headers.origin ?? '');
}

function isOriginOf(origin: string, host: string | undefined): boolean {
  if (host === undefined) return false;
  const scheme = origin.startsWith('http://') ? 7 : origin.startsWith('https://') ? 8 : 0;
  if (scheme === 0 || origin.length !== scheme + host.length) return false;
  return origin.endsWith(host) || origin.toLowerCase().endsWith(host.toLowerCase());
}

/** Compiles `https://app.example.org`, `http://localhost:*` or `chrome-extension://*`; a star stands for anything but `/`. */
export function allowOrigins(patterns: readonly string[]): (origin: string) => boolean {
  if (patterns.length === 0) return () => false;
  const alternatives = patterns.map((pattern) => pattern.split('*').map(literally).join('[^/]{0,253}'));
  const expression = new RegExp(`^(?:${alternatives.join('|')})$`, 'i');
  return (origin) => origin !== 'null' && origin.length <= 512 && expression.test(origin);
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/**
 * Whether a state-changing request or a WebSocket of another origin may pass. Under `credentialed` it has to bring its
 * own credential; a form or an image cannot, but makes the browser add a remembered Basic sign-in, hence the look at
 * the mode. An extension may bring it in the address, since a WebSocket takes no header.
 */
export function passesFromElsewhere(policy: CrossOrigin, request: IncomingMessage): boolean {
  if (policy === 'any') return true;
  if (policy === 'refuse') return false;
  if (hasAuthQuery(request.url)) return extension.test(request.headers.origin ?? '');
  if (request.headers.authorization === undefined) return false;
  const mode = request.headers['sec-fetch-mode'];
  return mode === undefined || mode === 'cors' || mode === 'websocket';
}

/** Whether the address carries a credential, as the push peer's clients send it. */
export function hasAuthQuery(url: string | undefined): boolean {
  const start = url?.indexOf('?') ?? -1;
  if (start < 0) return false;
  const query = new URLSearchParams(url?.slice(start + 1));
  return query.has('auth') || query.has('authorization');
}
