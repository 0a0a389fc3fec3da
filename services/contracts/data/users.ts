import * as m from '#messages/data-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';

const time = z.number().describe('ms since the epoch');

/** User of an app that stores its data here; not an account of Homeport. */
export const DataUser = z
  .object({
    id: z.string(),
    /** Empty for anonymous users. */
    email: z.string(),
    phone: z.string(),
    /** The email address is confirmed. */
    confirmed: z.boolean(),
    anonymous: z.boolean(),
    /** Sign-in providers, such as `email`. */
    providers: z.array(z.string()),
    /** Null when the user is not banned. */
    bannedUntil: time.nullable(),
    createdAt: time.nullable(),
    lastSignInAt: time.nullable(),
    /** Number of active sessions. */
    sessions: z.int(),
    /** Number of confirmed authenticator apps. */
    factors: z.int(),
    /** Metadata that apps can read and users can change. */
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'DataUser' });
export type DataUser = z.infer<typeof DataUser>;

/** User with the details that the list omits. */
export const DataUserDetail = DataUser.extend({
  hasPassword: z.boolean(),
  /** Most recently used sessions first, limited to the first of very many. */
  signedIn: z.array(
    z.object({
      id: z.string(),
      createdAt: time.nullable(),
      usedAt: time.nullable(),
      /** User agent that the app sent; empty for none. */
      userAgent: z.string(),
      ip: z.string(),
    }),
  ),
}).meta({ id: 'DataUserDetail' });
export type DataUserDetail = z.infer<typeof DataUserDetail>;

const timestamp = '/api/data/users/:id';
const ok = z.object({ ok: z.literal(true) });
const email = z.string().trim().min(1, { error: m.emailRequired }).max(255);
const password = z.string().min(6, { error: m.passwordTooShort }).max(72);

/** Routes for the users of the data platform, for administrators. */
export const dataUsersApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/data/users',
    summary: 'Lists users, newest first. A search matches email addresses, phone numbers, names and IDs.',
    access: 'admin',
    query: z.object({
      q: z.string().max(255).default(''),
      page: z.coerce.number().int().min(1).max(1_000_000).default(1),
    }),
    reply: z.object({ users: z.array(DataUser), total: z.int(), perPage: z.int() }),
  }),
  one: defineRoute({
    method: 'GET',
    path: timestamp,
    summary: 'Returns a user with their active sessions.',
    access: 'admin',
    reply: DataUserDetail,
  }),
  create: defineRoute({
    method: 'POST',
    path: '/api/data/users',
    summary:
      'Creates a user with a confirmed email address. Without a password, the user signs in with links and ' + 'codes.',
    access: 'admin',
    body: z.object({ email, password: z.union([z.literal(''), password]).default('') }),
    reply: DataUser,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: timestamp,
    summary: 'Sets a new password, which ends all sessions, or blocks or unblocks a user.',
    access: 'admin',
    body: z.object({ password: password.optional(), banned: z.boolean().optional() }),
    reply: DataUser,
  }),
  signOut: defineRoute({
    method: 'POST',
    path: `${timestamp}/sign-out`,
    summary: 'Ends all sessions of a user.',
    access: 'admin',
    reply: ok,
  }),
  endSession: defineRoute({
    method: 'DELETE',
    path: `${timestamp}/sessions/:session`,
    summary: 'Ends one session of a user.',
    access: 'admin',
    reply: ok,
  }),
  link: defineRoute({
    method: 'POST',
    path: `${timestamp}/link`,
    summary: 'Creates a link and a code, each of which signs a user in once. Earlier links and codes become invalid.',
    access: 'admin',
    reply: z.object({ link: z.string(), code: z.string(), validMs: z.int() }),
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: timestamp,
    summary: 'Deletes a user. Foreign keys determine what happens to related rows.',
    access: 'admin',
    reply: ok,
  }),
};
