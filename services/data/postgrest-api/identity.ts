import type { IncomingMessage } from 'node:http';
import type { KeyRole, Keys } from '../keys/keys.ts';
import { parseAudiences, type Claims, type JwtRejection } from '../keys/jwt.ts';
import { RestError } from './errors.ts';

/** Roles that a token may name. */
const roles = ['anon', 'authenticated', 'service_role'] as const;
export type Role = (typeof roles)[number];

export interface RequestIdentity {
  readonly role: Role;
  readonly claims: Claims;
}

/**
 * Determines the role and claims of a request: from its token, otherwise from its API key.
 *
 * @throws RestError PGRST301, PGRST303, 42501
 */
export async function identify(
  request: IncomingMessage,
  keyRole: KeyRole,
  keys: Keys,
  audience: string,
): Promise<RequestIdentity> {
  const { authorization } = request.headers;
  const token =
    /^bearer(?:\s+(.*))?$/i.exec(authorization ?? '')?.[1]?.trim() ?? (authorization === undefined ? undefined : '');
  if (token === undefined || (await isKey(token, keys))) return { role: keyRole, claims: { role: keyRole } };
  if (token === '') throw createTokenError('PGRST301', 'Empty JWT is sent in Authorization header');
  const verified = await keys.verify(token);
  if (!('claims' in verified)) throw toTokenError(verified.refusal);
  if (!hasAudience(verified.claims, audience)) throw toTokenError({ kind: 'audience' });
  const { role = keyRole } = verified.claims;
  const knownRole = roles.find((each) => each === role);
  if (knownRole !== undefined) return { role: knownRole, claims: verified.claims };
  const name = typeof role === 'string' ? role.slice(0, 63) : 'none';
  throw new RestError(403, '42501', `permission denied to set role "${name}"`);
}

/** Checks the audience. Tokens without an audience are accepted, and so are all tokens when no audience is set. */
function hasAudience({ aud }: Claims, audience: string): boolean {
  const all = parseAudiences(aud ?? []) ?? [];
  return audience === '' || all.length === 0 || all.includes(audience);
}

/**
 * Returns true when the bearer token is an API key: clients send their key as a token before sign-in. Opaque keys are
 * not JWTs.
 */
async function isKey(token: string, keys: Keys): Promise<boolean> {
  if (/^sb_(?:publishable|secret)_/.test(token)) return true;
  return !token.includes('.') && (await keys.getRole(token)) !== undefined;
}

function toTokenError(rejection: JwtRejection): RestError {
  switch (rejection.kind) {
    case 'malformed':
      return createTokenError('PGRST301', `Expected 3 parts in JWT; got ${rejection.parts}`);
    case 'signature':
      return createTokenError(
        'PGRST301',
        'No suitable key or wrong key type',
        'None of the keys was able to decode the JWT',
      );
    case 'expired':
      return createTokenError('PGRST303', 'JWT expired');
    case 'early':
      return createTokenError('PGRST303', 'JWT not yet valid');
    case 'issued-later':
      return createTokenError('PGRST303', 'JWT issued at future');
    case 'claim':
      return createTokenError('PGRST303', `The JWT '${rejection.name}' claim must be ${rejection.type}`);
    case 'audience':
      return createTokenError('PGRST303', 'JWT not in audience');
    case 'claims':
      return createTokenError('PGRST303', 'Parsing claims failed');
  }
}

function createTokenError(code: string, message: string, details: string | null = null): RestError {
  const challenge = `Bearer error="invalid_token", error_description="${message}"`;
  return new RestError(401, code, message, { details, headers: { 'WWW-Authenticate': challenge } });
}
