import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { AccountLanguage, AccountName, Password, Role } from './accounts.ts';
import { PasskeyResponse } from './second-factor.ts';

const ok = z.object({ ok: z.literal(true) });
const sessionSecret = z
  .string()
  .describe('Returned only once. Store it where pages from other origins cannot read it, and never in a cookie.');

const needsEnrollment = z
  .literal(true)
  .optional()
  .describe('The session can only be used to set up the second factor that is required for the account.');
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
    summary: 'Returns the signed-in account, and whether the first administrator still has to be created.',
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
        .describe('Operating system of the host, as Node.js names it. Null without a sign-in.'),
    }),
  }),
  setup: defineRoute({
    method: 'POST',
    path: '/api/setup',
    summary: 'Creates the first administrator with the one-time code from the first start, and signs in.',
    access: 'public',
    body: z.object({ code: z.string().max(200), name: AccountName, password: Password }),
    reply: z.object({ session: sessionSecret, needsEnrollment }),
  }),
  signIn: defineRoute({
    method: 'POST',
    path: '/api/session',
    summary: 'Signs in for pages, which then send the session secret in the `Homeport-Session` header of each request.',
    access: 'public',
    duringEnrollment: true,
    body: z.object({ name: z.string().max(64), password: z.string().max(1024) }),
    reply: z.union([
      signedIn,
      z.object({
        ticket: z
          .string()
          .describe(
            'Set if the account has a second factor: send this ticket with the code or passkey within five minutes.',
          ),
      }),
    ]),
  }),
  secondStep: defineRoute({
    method: 'POST',
    path: '/api/session/second-step',
    summary: 'Completes a sign-in with a code from the authenticator app, a recovery code or a passkey.',
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
    summary: 'Ends the session.',
    access: 'user',
    duringEnrollment: true,
    reply: ok,
  }),
  links: defineRoute({
    method: 'POST',
    path: '/api/links',
    summary:
      'Creates temporary addresses, valid for a day, at which a browser can load files from this API without ' +
      'headers, for example for images, players and downloads.',
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
    reply: z.object({ links: z.array(z.string()).describe('One address for each path, in the same order.') }),
  }),
};
