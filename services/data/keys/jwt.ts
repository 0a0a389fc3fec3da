import { createHmac, sign, timingSafeEqual, verify, type KeyObject } from 'node:crypto';
import { parseJson } from '../../contracts/parse-json.ts';
import { isRecord } from '../../contracts/is-record.ts';

export type Claims = Readonly<Record<string, unknown>>;

/**
 * Reason for the rejection of a token. `malformed` and `signature` mean a token that this service did not issue; the
 * other reasons concern valid signatures.
 */
export type JwtRejection =
  | { readonly kind: 'malformed'; readonly parts: number }
  | { readonly kind: 'signature' | 'expired' | 'early' | 'issued-later' | 'claims' | 'audience' }
  /** A claim has a value of the wrong type. */
  | { readonly kind: 'claim'; readonly name: string; readonly type: string };

export type VerifiedJwt = { readonly claims: Claims } | { readonly refusal: JwtRejection };

/** Tolerated difference between clocks, s. */
const maxClockSkewSeconds = 30;

/** Signs claims as a JSON Web Token with HMAC SHA-256. */
export function signJwt(claims: Claims, secret: string): string {
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createSignature(signed, secret).toString('base64url')}`;
}

/** Signs claims as a JSON Web Token with a private P-256 key, named by `kid`. */
export function signJwtWithPair(claims: Claims, kid: string, privateKey: KeyObject): string {
  const signed = `${encode({ alg: 'ES256', kid, typ: 'JWT' })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** Keys that tokens may be signed with. */
export interface TrustedKeys {
  readonly secret: string;
  /** Returns the public key of a valid pair; undefined for other names. */
  readonly publicKey: (kid: string) => KeyObject | undefined;
}

/**
 * Verifies the signature of a token with the trusted keys, each with its own algorithm, and its times at `now` (s since
 * the epoch).
 */
export function verifyJwt(token: string, { secret, publicKey }: TrustedKeys, now: number): VerifiedJwt {
  const parts = token.split('.');
  const [head = '', body = '', encodedSignature = ''] = parts;
  if (parts.length !== 3) return { refusal: { kind: 'malformed', parts: parts.length } };
  const signature = Buffer.from(encodedSignature, 'base64url');
  // Base64 has several encodings of the same bytes; only the canonical one is accepted.
  if (signature.toString('base64url') !== encodedSignature) return { refusal: { kind: 'signature' } };
  const { alg, kid } = decode(head) ?? {};
  const signed = `${head}.${body}`;
  // The key determines the algorithm, never the token: keys do not accept signatures of the other kind.
  const isValid =
    alg === 'HS256'
      ? isValidHmac(signed, signature, secret)
      : alg === 'ES256' && typeof kid === 'string' && isValidPairSignature(signed, signature, publicKey(kid));
  if (!isValid) return { refusal: { kind: 'signature' } };
  const claims = decode(body);
  if (claims === undefined) return { refusal: { kind: 'claims' } };
  const refusal = checkClaims(claims, now);
  return refusal === undefined ? { claims } : { refusal };
}

/**
 * Checks the time and audience claims. Returns the reason for a rejection.
 *
 * @param now s since the epoch
 */
export function checkClaims(claims: Claims, now: number): JwtRejection | undefined {
  for (const name of ['exp', 'nbf', 'iat']) {
    const time = claims[name];
    if (time !== undefined && (typeof time !== 'number' || !Number.isFinite(time))) {
      return { kind: 'claim', name, type: 'a number' };
    }
  }
  const { aud } = claims;
  if (aud !== undefined && aud !== null && parseAudiences(aud) === undefined) {
    return { kind: 'claim', name: 'aud', type: 'a string or an array of strings' };
  }
  const { exp, nbf, iat } = claims as { exp?: number; nbf?: number; iat?: number };
  if (exp !== undefined && exp + maxClockSkewSeconds <= now) return { kind: 'expired' };
  if (nbf !== undefined && nbf - maxClockSkewSeconds > now) return { kind: 'early' };
  if (iat !== undefined && iat - maxClockSkewSeconds > now) return { kind: 'issued-later' };
  return undefined;
}

/** Returns the audiences of a token; undefined for a claim of another type. */
export function parseAudiences(aud: unknown): readonly string[] | undefined {
  const all = typeof aud === 'string' ? [aud] : aud;
  return Array.isArray(all) && all.every((each) => typeof each === 'string') ? all : undefined;
}

function isValidHmac(signed: string, signature: Buffer, secret: string): boolean {
  const expected = createSignature(signed, secret);
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}

function isValidPairSignature(signed: string, signature: Buffer, key: KeyObject | undefined): boolean {
  return key !== undefined && verify('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, signature);
}

function createSignature(text: string, secret: string): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(part: string): Record<string, unknown> | undefined {
  const value = parseJson(Buffer.from(part, 'base64url').toString());
  return isRecord(value) ? value : undefined;
}
