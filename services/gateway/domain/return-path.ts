/**
 * Returns the path after a sign-in, which is always on the same host. Browsers treat `//host` and `/\host` as another
 * host, and drop tabs and line ends.
 */
export function returnPath(asked: string | null | undefined): string {
  if (asked === null || asked === undefined || asked.length > 2048) return '/';
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(asked) && !asked.includes('\\') ? asked : '/';
}

/**
 * Returns the target of the sign-in query: `to` is percent-encoded, or, as nginx writes `$request_uri`, not encoded,
 * last, and with its own query.
 */
export function wantedPath(query: string): string {
  const written = /(?:^|&)to=(\/.*)$/.exec(query)?.[1];
  return returnPath(written ?? new URLSearchParams(query).get('to'));
}
