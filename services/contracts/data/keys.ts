import { z } from 'zod';
import { defineRoute } from '../api.ts';

const time = z.number().describe('ms since the epoch');

/** API keys of the database, as supabase-js expects them. */
export const DataKeys = z
  .object({
    anon: z.string(),
    service: z.string(),
    publishable: z.string(),
    secret: z.string(),
    /** False when the settings define the secret. */
    canRotate: z.boolean(),
    /** Key pair that signs tokens; null when the secret signs them. */
    pair: z.object({ kid: z.string(), madeAt: time }).nullable(),
    /** Former key pairs, whose tokens are still valid. */
    earlier: z.array(z.object({ kid: z.string(), endsAt: time })),
    /** Lifetime of a token in seconds. */
    tokenSeconds: z.int(),
    /** Port for PostgreSQL clients on this computer; 0 while it is closed, null where an own server is used. */
    directPort: z.int().nullable(),
  })
  .meta({ id: 'DataKeys' });
export type DataKeys = z.infer<typeof DataKeys>;

/** Routes for the keys of programs and the signing keys of tokens, for administrators. */
export const dataKeysApi = {
  keys: defineRoute({
    method: 'GET',
    path: '/api/data/keys',
    summary: 'Returns the API keys.',
    access: 'admin',
    reply: DataKeys,
  }),
  rotate: defineRoute({
    method: 'POST',
    path: '/api/data/keys/rotate',
    summary: 'Replaces a key. With `all`, replaces the secret that signs all tokens, which signs out all users.',
    access: 'admin',
    body: z.object({ key: z.enum(['publishable', 'secret', 'all']) }),
    reply: DataKeys,
  }),
  sign: defineRoute({
    method: 'POST',
    path: '/api/data/keys/signing',
    summary:
      'Signs new tokens with a new key pair (ES256) or with the secret (HS256). Existing tokens stay valid ' +
      'until they expire.',
    access: 'admin',
    body: z.object({ with: z.enum(['pair', 'secret']) }),
    reply: DataKeys,
  }),
  endEarlier: defineRoute({
    method: 'POST',
    path: '/api/data/keys/signing/end',
    summary: 'Invalidates all tokens that were signed with earlier key pairs.',
    access: 'admin',
    reply: DataKeys,
  }),
};
