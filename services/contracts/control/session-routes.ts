import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { AccountLanguage, AccountName, Password, Role } from './accounts.ts';
import { PasskeyResponse } from './second-factor.ts';

const ok = z.object({ ok: z.literal(true) });
const sessionSecret = z
  .string()
  .describe('Shown only now. Keep it where no other origin gets to see it; never in a cookie.');

const needsEnrollment = z
  .literal(true)
  .optional()
  .describe('The session may only set up the second factor that the account must have.');
const signedIn = z.object({
  name: z.string(),
  role: Role,
  session: sessionSecret,
  needsEnrollment,
  language: AccountLanguage.optional(),
});

/** Routes that sign in and out, and the links of a session. */
export const sessionRoutes = {
  session: defineRoute({
    method: 'GET',
    path: '/api/session',
    summary: 'Who is signed in, and whether the first administrator is still to be made.',
    access: 'public',
    duringEnrollment: true,
    reply: z.object({
      account: z
        .object({ name: z.string(), role: Role, needsEnrollment, language: AccountLanguage.optional() })
        .nullable(),
      setupNeeded: z.boolean(),
      safeMode: z.boolean(),
      version: z.string(),
      platform: z
        .string()
        .nullable()
        .describe('System that Homeport runs on, as Node names it; null without a sign-in.'),
    }),
  }),
  setup: defineRoute({
    method: 'POST',
    path: '/api/setup',
    summary: 'Makes the first administrator with the one-time code of the first start, and signs in.',
    access: 'public',
    body: z.object({ code: z.string().max(200), name: AccountName, password: Password }),
    reply: z.object({ session: sessionSecret, needsEnrollment }),
  }),
  signIn: defineRoute({
    method: 'POST',
    path: '/api/session',
    summary: 'Signs in, as pages do: each call then brings the secret of the session in the header Homeport-Session.',
    access: 'public',
    duringEnrollment: true,
    body: z.object({ name: z.string().max(64), password: z.string().max(1024) }),
    reply: z.union([
      signedIn,
      z.object({
        ticket: z.string().describe('The account has a second factor: send this with its proof within five minutes.'),
      }),
    ]),
  }),
  secondStep: defineRoute({
    method: 'POST',
    path: '/api/session/second-step',
    summary: 'Completes a sign-in with a code of the authenticator app, a recovery code or a passkey.',
    access: 'public',
    duringEnrollment: true,
    body: z.object({
      ticket: z.string().max(64),
      code: z.string().max(32).optional(),
      passkey: PasskeyResponse.optional(),
    }),
    reply: signedIn,
  }),
  signOut: defineRoute({
    method: 'DELETE',
    path: '/api/session',
    summary: 'Signs out.',
    access: 'user',
    duringEnrollment: true,
    reply: ok,
  }),
  links: defineRoute({
    method: 'POST',
    path: '/api/links',
    summary:
      'Addresses under which a browser may read files of this API for a day, where it can send no header: ' +
      'pictures, players, downloads.',
    access: 'user',
    body: z.object({
      paths: z
        .array(
          z
            .string()
            .max(1000)
            .regex(/^\/api\/[^\s?#]+$/),
        )
        .min(1)
        .max(200),
    }),
    reply: z.object({ links: z.array(z.string()).describe('One for each path, in their order.') }),
  }),
};
