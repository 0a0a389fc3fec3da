import { createHmac, sign, timingSafeEqual, verify, type KeyObject } from 'node:crypto';

export type Claims = Readonly<Record<string, unknown>>;

/** Why a token is refused. `malformed`: it is none; `signature`: not one of ours; the rest: it is, but does not count now. */
export type Refusal =
  | { readonly kind: 'malformed'; readonly parts: number }
  | { readonly kind: 'signature' | 'expired' | 'early' | 'issued-later' | 'claims' | 'audience' }
  /** A claim has a value of another type than its own. */
  | { readonly kind: 'claim'; readonly name: string; readonly type: string };

export type Verified = { readonly claims: Claims } | { readonly refusal: Refusal };

/** Clocks of two machines may differ by so much, s. */
const skew = 30;

/** A JSON Web Token of these claims, signed by HMAC with SHA-256. */
export function signJwt(claims: Claims, secret: string): string {
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${hmac(signed, secret).toString('base64url')}`;
}

/** The same, signed by the private key of a pair on the curve P-256, which `kid` names. */
export function signByPair(claims: Claims, kid: string, privateKey: KeyObject): string {
  const signed = `${encode({ alg: 'ES256', kid, typ: 'JWT' })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** What tokens may be signed with. */
export interface Trusted {
  readonly secret: string;
  /** The public key of a pair of ours that counts; undefined for any other name. */
  readonly publicKey: (kid: string) => KeyObject | undefined;
}

/** Looks whether a token is signed with what is trusted, each by its own algorithm, and counts at `now` (s since the epoch). */
export function verifyJwt(token: string, { secret, publicKey }: Trusted, now: number): Verified {
  const parts = token.split('.');
  const [head = '', body = '', sent = ''] = parts;
  if (parts.length !== 3) return { refusal: { kind: 'malformed', parts: parts.length } };
  const signature = Buffer.from(sent, 'base64url');
  // Base64 has several spellings of the same bytes; only one of them is the token.
  if (signature.toString('base64url') !== sent) return { refusal: { kind: 'signature' } };
  const { alg, kid } = decode(head) ?? {};
  const signed = `${head}.${body}`;
  // The key says by which algorithm it is used, never the token: no key takes the signature of the other kind.
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

/** Whether claims do not count at this time, s since the epoch. */
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

/** For whom a token is; undefined for a claim of another type. */
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
