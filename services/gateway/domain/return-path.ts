/**
 * Where somebody goes after signing in: a path of the same host, whatever the address asked for. Browsers read `//host` and
 * `/\host` as another machine, and drop tabs and line ends before they look.
 */
export function returnPath(asked: string | null | undefined): string {
  if (asked === null || asked === undefined || asked.length > 2048) return '/';
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(asked) && !asked.includes('\\') ? asked : '/';
}

/**
 * Where the query of a sign-in's address leads: `to` percent-encoded, or as nginx writes its `$request_uri`, which is not
 * encoded, stands last and has a query of its own.
 */
export function wantedPath(query: string): string {
  const written = /(?:^|&)to=(\/.*)$/.exec(query)?.[1];
  return returnPath(written ?? new URLSearchParams(query).get('to'));
}
