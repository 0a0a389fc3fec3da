/**
 * Returns the path after a sign-in, which is always on the same host. Browsers treat `//host` and `/\host` as another
 * host, and drop tabs and line ends.
 */
export function getReturnPath(target: string | null | undefined): string {
  if (target === null || target === undefined || target.length > 2048) return '/';
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(target) && !target.includes('\\') ? target : '/';
}

/**
 * Returns the target of the sign-in query: `to` is percent-encoded, or, as nginx writes `$request_uri`, not encoded,
 * last, and with its own query.
 */
export function parseReturnPath(query: string): string {
  const rawPath = /(?:^|&)to=(\/.*)$/.exec(query)?.[1];
  return getReturnPath(rawPath ?? new URLSearchParams(query).get('to'));
}
