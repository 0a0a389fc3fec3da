import type { KeyObject } from 'node:crypto';
import { CompactSign, compactVerify, errors, type CompactJWSHeaderParameters } from 'jose';

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
export async function signJwt(claims: Claims, secret: string): Promise<string> {
  return await sign(claims, { alg: 'HS256', typ: 'JWT' }, toBytes(secret));
}

/** Signs claims as a JSON Web Token with a private P-256 key, named by `kid`. */
export async function signJwtWithPair(claims: Claims, kid: string, privateKey: KeyObject): Promise<string> {
  return await sign(claims, { alg: 'ES256', kid, typ: 'JWT' }, privateKey);
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
export async function verifyJwt(token: string, trustedKeys: TrustedKeys, now: number): Promise<VerifiedJwt> {
  const parts = token.split('.');
  if (parts.length !== 3) return { refusal: { kind: 'malformed', parts: parts.length } };
  const payload = isCanonical(parts[2] ?? '') ? await readPayload(token, trustedKeys) : undefined;
  if (payload === undefined) return { refusal: { kind: 'signature' } };
  const claims = parseClaims(payload);
  if (claims === undefined) return { refusal: { kind: 'claims' } };
  const refusal = checkClaims(claims, now);
  return refusal === undefined ? { claims } : { refusal };
}

/** Returns the payload of a token with a valid signature. */
async function readPayload(token: string, { secret, publicKey }: TrustedKeys): Promise<Uint8Array | undefined> {
  // The key determines the algorithm, never the token: keys do not accept signatures of the other kind.
  const getKey = ({ alg, kid }: CompactJWSHeaderParameters): Uint8Array | KeyObject => {
    const key = alg === 'HS256' ? toBytes(secret) : typeof kid === 'string' ? publicKey(kid) : undefined;
    // An empty secret means that the keys are not yet open.
    if (key === undefined || (key instanceof Uint8Array && key.length === 0)) throw new errors.JWKSNoMatchingKey();
    return key;
  };
  try {
    const { payload } = await compactVerify(token, getKey, { algorithms: ['HS256', 'ES256'] });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
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

async function sign(claims: Claims, header: CompactJWSHeaderParameters, key: Uint8Array | KeyObject): Promise<string> {
  return await new CompactSign(toBytes(JSON.stringify(claims))).setProtectedHeader(header).sign(key);
}

/** Base64 has several encodings of the same bytes; only the canonical one is accepted. */
function isCanonical(encoded: string): boolean {
  return Buffer.from(encoded, 'base64url').toString('base64url') === encoded;
}

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function parseClaims(payload: Uint8Array): Claims | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(payload));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
