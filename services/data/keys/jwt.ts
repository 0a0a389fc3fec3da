import { createHmac, timingSafeEqual } from 'node:crypto';

export type Claims = Readonly<Record<string, unknown>>;

/** Why a token is refused. `malformed`: it is none; `signature`: not one of ours; the rest: it is, but does not count now. */
export type Refusal =
  | { readonly kind: 'malformed'; readonly parts: number }
  | { readonly kind: 'signature' | 'expired' | 'early' | 'issued-later' | 'claims' };

export type Verified = { readonly claims: Claims } | { readonly refusal: Refusal };

const header = encode({ alg: 'HS256', typ: 'JWT' });
/** Clocks of two machines may differ by so much, s. */
const skew = 30;

/** A JSON Web Token of these claims, signed by HMAC with SHA-256. */
export function signJwt(claims: Claims, secret: string): string {
  const signed = `${header}.${encode(claims)}`;
  return `${signed}.${signature(signed, secret).toString('base64url')}`;
}

/** Looks whether a token is signed with this secret, by HS256 alone, and counts at `now` (s since the epoch). */
export function verifyJwt(token: string, secret: string, now: number): Verified {
  const parts = token.split('.');
  const [head = '', body = '', sent = ''] = parts;
  if (parts.length !== 3) return { refusal: { kind: 'malformed', parts: parts.length } };
  // The algorithm is ours to choose, never the token's.
  if (decode(head)?.['alg'] !== 'HS256') return { refusal: { kind: 'signature' } };
  const ours = signature(`${head}.${body}`, secret);
  const theirs = Buffer.from(sent, 'base64url');
  if (theirs.length !== ours.length || !timingSafeEqual(theirs, ours)) return { refusal: { kind: 'signature' } };
  // Base64 has several spellings of the same bytes; only one of them is the token.
  if (theirs.toString('base64url') !== sent) return { refusal: { kind: 'signature' } };
  const claims = decode(body);
  if (claims === undefined) return { refusal: { kind: 'claims' } };
  const refusal = untimely(claims, now);
  return refusal === undefined ? { claims } : { refusal };
}

/** Whether claims do not count at this time, s since the epoch. */
export function untimely(claims: Claims, now: number): Refusal | undefined {
  for (const name of ['exp', 'nbf', 'iat']) {
    const time = claims[name];
    if (time !== undefined && (typeof time !== 'number' || !Number.isFinite(time))) return { kind: 'claims' };
  }
  const { exp, nbf, iat } = claims as { exp?: number; nbf?: number; iat?: number };
  if (exp !== undefined && exp + skew <= now) return { kind: 'expired' };
  if (nbf !== undefined && nbf - skew > now) return { kind: 'early' };
  if (iat !== undefined && iat - skew > now) return { kind: 'issued-later' };
  return undefined;
}

function signature(text: string, secret: string): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
