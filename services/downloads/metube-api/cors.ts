import type { RequestHandler } from 'express';
import { Problem } from '../../contracts/problem.ts';

/**
 * The answers that let browser extensions and bookmarklets in, and keep every other page from adding anything.
 * An allowed origin is echoed, even under `*`; only an origin that is named may send its credentials, never one that is
 * let in by `*`.
 */
export function cors(settings: { readonly corsAllowedOrigins: readonly string[] }): RequestHandler {
  return (request, response, next) => {
    const { corsAllowedOrigins: patterns } = settings;
    const isAllowed = originMatcher(patterns);
    const isNamed = originMatcher(patterns.filter((pattern) => !pattern.includes('*')));
    const { origin } = request.headers;
    const allowed = origin !== undefined && isAllowed(origin);
    if (patterns.length > 0) response.vary('Origin');
    if (allowed) {
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
    // Without the headers above, a browser takes this answer for a no.
    if (request.method === 'OPTIONS') return void response.json({ status: 'ok' });
    const site = request.headers['sec-fetch-site'];
    const foreign =
      origin === undefined
        ? site === 'cross-site' || site === 'same-site'
        : !allowed && !isOwn(origin, request.headers.host);
    if (foreign && request.method !== 'GET' && request.method !== 'HEAD') {
      throw new Problem('downloads.foreign_origin', 403, 'Add the origin of this page to CORS_ALLOWED_ORIGINS first.');
    }
    next();
  };
}

/** Whether an origin is one of those that may use the service from their pages. */
export function originMatcher(patterns: readonly string[]): (origin: string) => boolean {
  const quote = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const expressions = patterns
    .filter((pattern) => pattern !== '*')
    .map((pattern) => new RegExp(`^${pattern.split('*').map(quote).join('[^/]*')}$`, 'i'));
  const all = patterns.includes('*');
  return (origin) =>
    origin.length <= 512 && origin !== 'null' && (all || expressions.some((each) => each.test(origin)));
}

/** Whether an origin is the address that the request went to. */
export function isOwn(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}
