import { z } from 'zod';
import { AccessToken, Account, AccountLanguage, AccountName, Grant, NewToken, Password } from './accounts.ts';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';

/**
 * Published after a change of accounts, tokens or grants; pages reload what they show. It carries no names, since
 * every account receives it.
 */
export const accessChanged = defineTopic('control.access', z.object({}));

/** Reason for the result of an access check. */
export const AccessReason = z.enum(['administrator', 'switched-off', 'granted', 'not-granted']);
export type AccessReason = z.infer<typeof AccessReason>;

const ok = z.object({ ok: z.literal(true) });

/** Routes about access rights; answered by the control service. */
export const accessApi = {
  anyone: defineRoute({
    method: 'GET',
    path: '/api/access/anyone',
    summary: 'What everyone may do, signed in or not.',
    access: 'admin',
    reply: z.object({ grants: z.array(Grant) }),
  }),
  changeAnyone: defineRoute({
    method: 'PUT',
    path: '/api/access/anyone',
    summary: 'Replaces what everyone may do.',
    access: 'admin',
    body: z.object({ grants: z.array(Grant) }),
    reply: z.object({ grants: z.array(Grant) }),
  }),
  check: defineRoute({
    method: 'GET',
    path: '/api/access/check',
    summary: 'Whether an account may read or write something; without an account: whether anyone may.',
    access: 'admin',
    query: z.object({
      account: AccountName.optional(),
      service: z.string().min(1).max(64),
      permission: z.enum(['read', 'write']),
      resource: z.string().min(1).max(128),
    }),
    reply: z.object({ allowed: z.boolean(), reason: AccessReason }),
  }),
};

/** Browser in which the caller's account is signed in. Times are ms since the epoch. */
export const OwnSession = z.object({
  id: z.string(),
  address: z.string().describe('Where it was opened from'),
  userAgent: z.string(),
  createdAt: z.number(),
  lastUsedAt: z.number(),
  expiresAt: z.number(),
  current: z.boolean().describe('It is the one that asks'),
});
export type OwnSession = z.infer<typeof OwnSession>;

/** Current password of the account; required when the sign-in is older than five minutes. */
const SessionProof = z.object({ password: z.string().max(1024).optional() }).default({});

/** Routes for the caller's own account. */
export const ownAccountApi = {
  read: defineRoute({
    method: 'GET',
    path: '/api/account',
    summary: 'The own account with its access tokens.',
    access: 'user',
    duringEnrollment: true,
    reply: z.object({ account: Account, tokens: z.array(AccessToken) }),
  }),
  changePassword: defineRoute({
    method: 'PUT',
    path: '/api/account/password',
    summary: 'Changes the own password; every session of the account ends, and a new one begins.',
    access: 'user',
    body: z.object({ current: z.string().max(1024), password: Password }),
    reply: z.object({ session: z.string() }),
  }),
  changeLanguage: defineRoute({
    method: 'PUT',
    path: '/api/account/language',
    summary: 'Selects the language of the pages for the own account in every browser.',
    access: 'user',
    body: z.object({ language: AccountLanguage }),
    reply: ok,
  }),
  sessions: defineRoute({
    method: 'GET',
    path: '/api/account/sessions',
    summary: 'Where the own account is signed in, on the pages and through the gateway, latest use first.',
    access: 'user',
    reply: z.object({ sessions: z.array(OwnSession) }),
  }),
  endSession: defineRoute({
    method: 'DELETE',
    path: '/api/account/sessions/:id',
    summary: 'Signs out one of the own sessions. Needs the password, unless the caller signed in a moment ago.',
    access: 'user',
    body: SessionProof,
    reply: ok,
  }),
  endOtherSessions: defineRoute({
    method: 'DELETE',
    path: '/api/account/sessions',
    summary:
      'Signs out all own sessions except the one that asks. Needs the password, unless the caller signed in a moment ago.',
    access: 'user',
    body: SessionProof,
    reply: z.object({ ended: z.number() }),
  }),
  createToken: defineRoute({
    method: 'POST',
    path: '/api/account/tokens',
    summary: 'Makes an access token of the own account; its text is in this answer only. Not to be had with a token.',
    access: 'user',
    body: NewToken,
    reply: z.object({ token: AccessToken, text: z.string() }),
  }),
  removeToken: defineRoute({
    method: 'DELETE',
    path: '/api/account/tokens/:id',
    summary: 'Revokes an access token of the own account.',
    access: 'user',
    reply: ok,
  }),
};
