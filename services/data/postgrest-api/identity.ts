import type { IncomingMessage } from 'node:http';
import type { KeyRole, Keys } from '../keys/keys.ts';
import { audiencesOf, type Claims, type Refusal } from '../keys/jwt.ts';
import { RestError } from './errors.ts';

/** The roles that a token may name, whoever signed it. */
const roles = ['anon', 'authenticated', 'service_role'] as const;
export type Role = (typeof roles)[number];

export interface RequestIdentity {
  readonly role: Role;
  readonly claims: Claims;
}

/** Whose rows a request may see: by its token, else by its key. @throws RestError PGRST301, PGRST303, 42501 */
export function identify(request: IncomingMessage, keyRole: KeyRole, keys: Keys, audience: string): RequestIdentity {
  const { authorization } = request.headers;
  const token =
    /^bearer(?:\s+(.*))?$/i.exec(authorization ?? '')?.[1]?.trim() ?? (authorization === undefined ? undefined : '');
  if (token === undefined || isKey(token, keys)) return { role: keyRole, claims: { role: keyRole } };
  if (token === '') throw refused('PGRST301', 'Empty JWT is sent in Authorization header');
  const verified = keys.verify(token);
  if (!('claims' in verified)) throw refusalOf(verified.refusal);
  if (!isMeantFor(verified.claims, audience)) throw refusalOf({ kind: 'audience' });
  const { role = keyRole } = verified.claims;
  const known = roles.find((each) => each === role);
  if (known !== undefined) return { role: known, claims: verified.claims };
  const name = typeof role === 'string' ? role.slice(0, 63) : 'none';
  throw new RestError(403, '42501', `permission denied to set role "${name}"`);
}

/** Whether a token is for this audience; one that names none is for all, and so is every one where none is set. */
function isMeantFor({ aud }: Claims, audience: string): boolean {
  const all = audiencesOf(aud ?? []) ?? [];
  return audience === '' || all.length === 0 || all.includes(audience);
}

/** Clients send the key that they have as a token too, where nobody has signed in; not every key is one. */
function isKey(token: string, keys: Keys): boolean {
  return /^sb_(?:publishable|secret)_/.test(token) || (!token.includes('.') && keys.roleOf(token) !== undefined);
}

function refusalOf(refusal: Refusal): RestError {
  switch (refusal.kind) {
    case 'malformed':
      return refused('PGRST301', `Expected 3 parts in JWT; got ${refusal.parts}`);
    case 'signature':
      return refused('PGRST301', 'No suitable key or wrong key type', 'None of the keys was able to decode the JWT');
    case 'expired':
      return refused('PGRST303', 'JWT expired');
    case 'early':
      return refused('PGRST303', 'JWT not yet valid');
    case 'issued-later':
      return refused('PGRST303', 'JWT issued at future');
    case 'claim':
      return refused('PGRST303', `The JWT '${refusal.name}' claim must be ${refusal.type}`);
    case 'audience':
      return refused('PGRST303', 'JWT not in audience');
    case 'claims':
      return refused('PGRST303', 'Parsing claims failed');
  }
}

function refused(code: string, message: string, details: string | null = null): RestError {
  const challenge = `Bearer error="invalid_token", error_description="${message}"`;
  return new RestError(401, code, message, { details, headers: { 'WWW-Authenticate': challenge } });
}
