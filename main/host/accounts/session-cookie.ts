/** Not `__Host-`: on loopback the app speaks plain HTTP, where browsers refuse that prefix. */
export const sessionCookieName = 'homeport_session';

/** A session lasts this long after its last use, in ms. */
export const sessionLifetime = 30 * 24 * 60 * 60 * 1000;

/**
 * The Set-Cookie text for a session's value; null takes the cookie away.
 * @param options.secure set on listeners that speak TLS
 */
export function sessionCookie(value: string | null, options: { readonly secure: boolean }): string {
  const age = value === null ? 0 : sessionLifetime / 1000;
  return `${sessionCookieName}=${value ?? ''}; Max-Age=${age}; Path=/; HttpOnly; SameSite=Strict${options.secure ? '; Secure' : ''}`;
}

/** All values a Cookie header has for our name: a page of a neighbouring host name can add one, so the first need not be ours. */
export function readSessionCookies(header: string | undefined): readonly string[] {
  if (header === undefined || !header.includes(sessionCookieName)) return [];
  return header
    .split(';', 100)
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${sessionCookieName}=`))
    .map((pair) => pair.slice(sessionCookieName.length + 1))
    .filter((value) => /^[A-Za-z0-9_-]{43}$/.test(value))
    .slice(0, 5);
}
