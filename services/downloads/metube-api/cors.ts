import type { RequestHandler } from 'express';
import { Problem } from '../../contracts/problem.ts';

/**
 * Sets CORS headers for browser extensions and bookmarklets, and refuses other pages. An allowed origin is echoed, even
 * under `*`; only an explicitly named origin may send credentials.
 */
export function createCors(settings: { readonly corsAllowedOrigins: readonly string[] }): RequestHandler {
  return (request, response, next) => {
    const { corsAllowedOrigins: patterns } = settings;
    const isAllowed = createOriginMatcher(patterns);
    const isNamed = createOriginMatcher(patterns.filter((pattern) => !pattern.includes('*')));
    const { origin } = request.headers;
    const isAllowedOrigin = origin !== undefined && isAllowed(origin);
    if (patterns.length > 0) response.vary('Origin');
    if (isAllowedOrigin) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      if (isNamed(origin)) response.setHeader('Access-Control-Allow-Credentials', 'true');
      response.setHeader(
        'Access-Control-Allow-Headers',
        patterns.includes('*') ? 'Content-Type' : 'Content-Type, Authorization',
      );
      response.setHeader('Access-Control-Allow-Methods', 'GET, POST, OPTIONS');
      if (request.headers['access-control-request-private-network'] === 'true') {
        response.setHeader('Access-Control-Allow-Private-Network', 'true');
      }
    }
    // Without the headers above, the browser refuses the request.
    if (request.method === 'OPTIONS') return void response.json({ status: 'ok' });
    const site = request.headers['sec-fetch-site'];
    const isForeign =
      origin === undefined
        ? site === 'cross-site' || site === 'same-site'
        : !isAllowedOrigin && !isSameOrigin(origin, request.headers.host);
    if (isForeign && request.method !== 'GET' && request.method !== 'HEAD') {
      throw new Problem('downloads.foreign_origin', 403, 'Add the origin of this page to CORS_ALLOWED_ORIGINS first.');
    }
    next();
  };
}

/** Creates a test whether an origin matches one of the patterns. */
export function createOriginMatcher(patterns: readonly string[]): (origin: string) => boolean {
  const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const expressions = patterns
    .filter((pattern) => pattern !== '*')
    .map((pattern) => new RegExp(`^${pattern.split('*').map(escapePattern).join('[^/]*')}$`, 'i'));
  const allowsAll = patterns.includes('*');
  return (origin) =>
    origin.length <= 512 && origin !== 'null' && (allowsAll || expressions.some((each) => each.test(origin)));
}

/** Tells whether an origin is the address of the request. */
export function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}
