import { createHmac, sign, timingSafeEqual, verify, type KeyObject } from 'node:crypto';

export type Claims = Readonly<Record<string, unknown>>;

/**
 * Reason for the rejection of a token. `malformed` and `signature` mean a token that this service did not issue; the
 * other reasons concern valid signatures.
 */
export type Refusal =
  | { readonly kind: 'malformed'; readonly parts: number }
  | { readonly kind: 'signature' | 'expired' | 'early' | 'issued-later' | 'claims' | 'audience' }
  /** A claim has a value of the wrong type. */
  | { readonly kind: 'claim'; readonly name: string; readonly type: string };

export type Verified = { readonly claims: Claims } | { readonly refusal: Refusal };

/** Tolerated difference between clocks, s. */
const skew = 30;

/** Signs claims as a JSON Web Token with HMAC SHA-256. */
export function signJwt(claims: Claims, secret: string): string {
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${hmac(signed, secret).toString('base64url')}`;
}

/** Signs claims as a JSON Web Token with a private P-256 key, named by `kid`. */
export function signByPair(claims: Claims, kid: string, privateKey: KeyObject): string {
  const signed = `${encode({ alg: 'ES256', kid, typ: 'JWT' })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** Keys that tokens may be signed with. */
export interface Trusted {
  readonly secret: string;
  /** Returns the public key of a valid pair; undefined for other names. */
  readonly publicKey: (kid: string) => KeyObject | undefined;
}

/**
 * Verifies the signature of a token with the trusted keys, each with its own algorithm, and its times at `now` (s since
 * the epoch).
 */
export function verifyJwt(token: string, { secret, publicKey }: Trusted, now: number): Verified {
  const parts = token.split('.');
  const [head = '', body = '', sent = ''] = parts;
  if (parts.length !== 3) return { refusal: { kind: 'malformed', parts: parts.length } };
  const signature = Buffer.from(sent, 'base64url');
  // Base64 has several encodings of the same bytes; only the canonical one is accepted.
  if (signature.toString('base64url') !== sent) return { refusal: { kind: 'signature' } };
  const { alg, kid } = decode(head) ?? {};
  const signed = `${head}.${body}`;
  // The key determines the algorithm, never the token: keys do not accept signatures of the other kind.
  const isOurs =
    alg === 'HS256'
      ? isHmac(signed, signature, secret)
      : alg === 'ES256' && typeof kid === 'string' && isByPair(signed, signature, publicKey(kid));
  if (!isOurs) return { refusal: { kind: 'signature' } };
  const claims = decode(body);
  if (claims === undefined) return { refusal: { kind: 'claims' } };
  const refusal = untimely(claims, now);
  return refusal === undefined ? { claims } : { refusal };
}

/**
 * Checks the time and audience claims. Returns the reason for a rejection.
 *
 * @param now s since the epoch
 */
export function untimely(claims: Claims, now: number): Refusal | undefined {
  for (const name of ['exp', 'nbf', 'iat']) {
    const time = claims[name];
    if (time !== undefined && (typeof time !== 'number' || !Number.isFinite(time))) {
      return { kind: 'claim', name, type: 'a number' };
    }
  }
  const { aud } = claims;
  if (aud !== undefined && aud !== null && audiencesOf(aud) === undefined) {
    return { kind: 'claim', name: 'aud', type: 'a string or an array of strings' };
  }
  const { exp, nbf, iat } = claims as { exp?: number; nbf?: number; iat?: number };
  if (exp !== undefined && exp + skew <= now) return { kind: 'expired' };
  if (nbf !== undefined && nbf - skew > now) return { kind: 'early' };
  if (iat !== undefined && iat - skew > now) return { kind: 'issued-later' };
  return undefined;
}

/** Returns the audiences of a token; undefined for a claim of another type. */
export function audiencesOf(aud: unknown): readonly string[] | undefined {
  const all = typeof aud === 'string' ? [aud] : aud;
  return Array.isArray(all) && all.every((each) => typeof each === 'string') ? all : undefined;
}

function isHmac(signed: string, signature: Buffer, secret: string): boolean {
  const ours = hmac(signed, secret);
  return signature.length === ours.length && timingSafeEqual(signature, ours);
}

function isByPair(signed: string, signature: Buffer, key: KeyObject | undefined): boolean {
  return key !== undefined && verify('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, signature);
}

function hmac(text: string, secret: string): Buffer {
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
