/** Content of an Authorization header, before any lookup. */
export type Claim =
  | { readonly kind: 'none' }
  /** A supported scheme whose content can never be valid. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'password'; readonly name: string; readonly password: string }
  /** `name` is set when the token was the password of a Basic header with that user name. */
  | { readonly kind: 'token'; readonly text: string; readonly name?: string };

/** Sufficient for a name of 64 and a password of 1,024 characters, with four bytes each in base64. */
const maxHeaderLength = 8192;
const tokenShape = /^tk_[a-z0-9]{29}$/;
const base64Shape = /^[A-Za-z0-9+/]+={0,2}$/;

export function isTokenShaped(text: string): boolean {
  return tokenShape.test(text);
}

/**
 * Parses Basic (RFC 7617) and Bearer (RFC 6750). Other schemes, such as `vapid` of web push senders, are ignored as
 * in ntfy.
 */
export function readAuthorization(header: string | undefined): Claim {
  if (header === undefined) return { kind: 'none' };
  const scheme = /^ *(basic|bearer)(?: |$)/i.exec(header.slice(0, 64))?.[1]?.toLowerCase();
  if (scheme === undefined) return { kind: 'none' };
  if (header.length > maxHeaderLength) return { kind: 'malformed' };
  const value = header.trim().slice(scheme.length).trim();
  return scheme === 'basic' ? readBasic(value) : tokenClaim(value);
}

function readBasic(value: string): Claim {
  const text = decode(value);
  const colon = text?.indexOf(':') ?? -1;
  if (text === undefined || colon < 0) return { kind: 'malformed' };
  const name = text.slice(0, colon);
  const password = text.slice(colon + 1);
  if (name === '') return tokenClaim(password);
  return isTokenShaped(password) ? { kind: 'token', text: password, name } : { kind: 'password', name, password };
}

function tokenClaim(text: string): Claim {
  return isTokenShaped(text) ? { kind: 'token', text } : { kind: 'malformed' };
}

function decode(base64: string): string | undefined {
  if (!base64Shape.test(base64) || base64.replace(/=+$/, '').length % 4 === 1) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  const text = bytes.toString('utf8');
  // Old clients send Latin-1, which is not valid UTF-8.
  return text.includes('\uFFFD') ? bytes.toString('latin1') : text;
}
