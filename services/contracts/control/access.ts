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
    summary: 'Returns the permissions that apply to everyone, signed in or not.',
    access: 'admin',
    reply: z.object({ grants: z.array(Grant) }),
  }),
  changeAnyone: defineRoute({
    method: 'PUT',
    path: '/api/access/anyone',
    summary: 'Replaces the permissions that apply to everyone.',
    access: 'admin',
    body: z.object({ grants: z.array(Grant) }),
    reply: z.object({ grants: z.array(Grant) }),
  }),
  check: defineRoute({
    method: 'GET',
    path: '/api/access/check',
    summary: 'Checks whether an account can read or write a resource. Without an account, checks whether everyone can.',
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
  address: z.string().describe('Address from which the session was opened.'),
  userAgent: z.string(),
  createdAt: z.number(),
  lastUsedAt: z.number(),
  expiresAt: z.number(),
  current: z.boolean().describe('True for the session that sends this request.'),
});
export type OwnSession = z.infer<typeof OwnSession>;

/** Current password of the account; required when the sign-in is older than five minutes. */
const SessionProof = z.object({ password: z.string().max(1024).optional() }).default({});

/** Routes for the caller's own account. */
export const ownAccountApi = {
  read: defineRoute({
    method: 'GET',
    path: '/api/account',
    summary: "Returns the caller's account with its access tokens.",
    access: 'user',
    duringEnrollment: true,
    reply: z.object({ account: Account, tokens: z.array(AccessToken) }),
  }),
  changePassword: defineRoute({
    method: 'PUT',
    path: '/api/account/password',
    summary: "Changes the caller's password. All sessions of the account end, and a new one starts.",
    access: 'user',
    body: z.object({ current: z.string().max(1024), password: Password }),
    reply: z.object({ session: z.string() }),
  }),
  changeLanguage: defineRoute({
    method: 'PUT',
    path: '/api/account/language',
    summary: "Sets the language of the pages for the caller's account in all browsers.",
    access: 'user',
    body: z.object({ language: AccountLanguage }),
    reply: ok,
  }),
  sessions: defineRoute({
    method: 'GET',
    path: '/api/account/sessions',
    summary: "Lists the caller's sessions, on the pages and through the gateway, most recently used first.",
    access: 'user',
    reply: z.object({ sessions: z.array(OwnSession) }),
  }),
  endSession: defineRoute({
    method: 'DELETE',
    path: '/api/account/sessions/:id',
    summary:
      "Ends one of the caller's sessions. Requires the password unless the caller signed in within the last " +
      'five minutes.',
    access: 'user',
    body: SessionProof,
    reply: ok,
  }),
  endOtherSessions: defineRoute({
    method: 'DELETE',
    path: '/api/account/sessions',
    summary:
      "Ends all of the caller's sessions except the current one. Requires the password unless the caller signed " +
      'in within the last five minutes.',
    access: 'user',
    body: SessionProof,
    reply: z.object({ ended: z.number() }),
  }),
  createToken: defineRoute({
    method: 'POST',
    path: '/api/account/tokens',
    summary:
      "Creates an access token for the caller's account. The token is returned only in this response. Requests " +
      'that are authenticated with a token are rejected.',
    access: 'user',
    body: NewToken,
    reply: z.object({ token: AccessToken, text: z.string() }),
  }),
  removeToken: defineRoute({
    method: 'DELETE',
    path: '/api/account/tokens/:id',
    summary: "Revokes an access token of the caller's account.",
    access: 'user',
    reply: ok,
  }),
};
