import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { compileLinearExpression } from '../../kit/linear-expression.ts';

interface CorsSettings {
  readonly corsAllowedOrigins: readonly string[];
}

/**
 * Returns the CORS headers for browser extensions and bookmarklets. An allowed origin is echoed, even under `*`; only an
 * explicitly named origin may send credentials.
 */
export function buildCorsHeaders(
  { corsAllowedOrigins: patterns }: CorsSettings,
  { headers }: IncomingMessage,
): Readonly<Record<string, string>> {
  const vary: Record<string, string> = patterns.length > 0 ? { Vary: 'Origin' } : {};
  const { origin } = headers;
  if (origin === undefined || !createOriginMatcher(patterns)(origin)) return vary;
  const isNamed = createOriginMatcher(patterns.filter((pattern) => !pattern.includes('*')))(origin);
  const isPrivate = headers['access-control-request-private-network'] === 'true';
  return {
    ...vary,
    'Access-Control-Allow-Origin': origin,
    ...(isNamed ? { 'Access-Control-Allow-Credentials': 'true' } : {}),
    'Access-Control-Allow-Headers': patterns.includes('*') ? 'Content-Type' : 'Content-Type, Authorization',
    'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
    ...(isPrivate ? { 'Access-Control-Allow-Private-Network': 'true' } : {}),
  };
}

/**
 * Refuses changes by pages of other sites.
 * @throws Problem `downloads.foreign_origin` (403)
 */
export function refuseForeignOrigin(
  { corsAllowedOrigins: patterns }: CorsSettings,
  { method, headers }: IncomingMessage,
): void {
  if (method === 'GET' || method === 'HEAD') return;
  const { origin, host, 'sec-fetch-site': site } = headers;
  const isForeign =
    origin === undefined
      ? site === 'cross-site' || site === 'same-site'
      : !createOriginMatcher(patterns)(origin) && !isSameOrigin(origin, host);
  if (!isForeign) return;
  throw new Problem('downloads.foreign_origin', 403, 'Add the origin of this page to CORS_ALLOWED_ORIGINS first.');
}

/** Creates a test whether an origin matches one of the patterns. */
export function createOriginMatcher(patterns: readonly string[]): (origin: string) => boolean {
  const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const expressions = patterns
    .filter((pattern) => pattern !== '*')
    .map((pattern) => compileLinearExpression(`(?i)^${pattern.split('*').map(escapePattern).join('[^/]*')}$`));
  const allowsAll = patterns.includes('*');
  return (origin) =>
    origin.length <= 512 && origin !== 'null' && (allowsAll || expressions.some((each) => each.test(origin)));
}

/** Returns whether an origin is the address of the request. */
export function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}
