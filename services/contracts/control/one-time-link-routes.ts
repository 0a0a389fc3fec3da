import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { AccountLanguage, AccountName, Password, Role } from './accounts.ts';
import { NewInvitation, OneTimeLink, OneTimeLinkPurpose } from './one-time-links.ts';

const Token = z.string().max(100).describe('The part of the link after `#`');

/** Addresses of a new link. They contain its token and are shown only once. */
const Created = z.object({
  link: OneTimeLink,
  urls: z.array(z.string()).describe('Best address for other devices first; the last one is for this computer.'),
});

/** Session of the account, or the ticket of the second step of its sign-in. */
export const SignedIn = z.union([
  z.object({
    name: z.string(),
    role: Role,
    session: z.string(),
    needsEnrollment: z.literal(true).optional(),
    language: AccountLanguage.optional(),
  }),
  z.object({ ticket: z.string() }),
]);
export type SignedIn = z.infer<typeof SignedIn>;

/** Routes about one-time links: invitations, and resets of passwords. */
export const oneTimeLinkApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/account-links',
    summary: 'Unused invitations and password links.',
    access: 'admin',
    reply: z.object({ links: z.array(OneTimeLink) }),
  }),
  invite: defineRoute({
    method: 'POST',
    path: '/api/account-links/invitations',
    summary: 'Creates a link with which a person creates an account; valid once, for seven days.',
    access: 'admin',
    body: NewInvitation,
    reply: Created,
  }),
  reset: defineRoute({
    method: 'POST',
    path: '/api/accounts/:name/password-link',
    summary: 'Creates a link with which a person sets a new password; valid once, for 24 hours.',
    access: 'admin',
    body: z.object({ removesSecondFactor: z.boolean().default(false) }),
    reply: Created,
  }),
  revoke: defineRoute({
    method: 'DELETE',
    path: '/api/account-links/:id',
    summary: 'Revokes an unused link.',
    access: 'admin',
    reply: z.object({ ok: z.literal(true) }),
  }),
  open: defineRoute({
    method: 'POST',
    path: '/api/session/link',
    summary: 'What a one-time link is for. It stays valid.',
    access: 'public',
    duringEnrollment: true,
    body: z.object({ token: Token }),
    reply: OneTimeLinkPurpose,
  }),
  use: defineRoute({
    method: 'POST',
    path: '/api/session/link/use',
    summary: 'Uses a one-time link: sets the password or creates the account, and signs in.',
    access: 'public',
    duringEnrollment: true,
    body: z.object({ token: Token, name: AccountName.or(z.literal('')).default(''), password: Password }),
    reply: SignedIn,
  }),
};
