/**
 * Where somebody goes after signing in: a path of the same host, whatever the address asked for. Browsers read `//host` and
 * `/\host` as another machine, and drop tabs and line ends before they look.
 */
export function returnPath(asked: string | null | undefined): string {
  if (asked === null || asked === undefined || asked.length > 2048) return '/';
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(asked) && !asked.includes('\\') ? asked : '/';
}
