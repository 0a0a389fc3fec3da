import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { AccountDataSummary } from './account-data.ts';
import { Account, AccessToken, AccountName, everyone, NewToken, Password } from './accounts.ts';

const ok = z.object({ ok: z.literal(true) });

/** Routes for users, service accounts and their tokens, for administrators. */
export const accountRoutes = {
  accounts: defineRoute({
    method: 'GET',
    path: '/api/accounts',
    summary: 'Lists users and service accounts with their grants.',
    access: 'admin',
    reply: z.object({ accounts: z.array(Account) }),
  }),
  createAccount: defineRoute({
    method: 'POST',
    path: '/api/accounts',
    summary: 'Creates an account.',
    access: 'admin',
    body: Account.pick({ name: true, kind: true, role: true, description: true, grants: true })
      .partial({ kind: true, role: true, description: true, grants: true })
      .extend({ password: Password.optional() }),
    reply: Account,
  }),
  changeAccount: defineRoute({
    method: 'PATCH',
    path: '/api/accounts/:name',
    summary: 'Changes the password, role or grants of an account, or enables or disables it.',
    access: 'admin',
    body: Account.pick({ role: true, enabled: true, description: true, grants: true })
      .partial()
      .extend({ password: Password.optional() }),
    reply: Account.extend({ name: AccountName.or(z.literal(everyone)) }),
  }),
  accountData: defineRoute({
    method: 'GET',
    path: '/api/accounts/:name/data',
    summary: 'Lists the data that an account has in the running services.',
    access: 'admin',
    reply: z.object({ data: z.array(AccountDataSummary.extend({ service: z.string() })) }),
  }),
  removeAccount: defineRoute({
    method: 'DELETE',
    path: '/api/accounts/:name',
    summary:
      'Removes an account with its tokens and sessions. Its data is deleted, transferred or kept for ' +
      'administrators.',
    access: 'admin',
    query: z.object({
      data: z
        .enum(['delete', 'transfer', 'keep'])
        .optional()
        .describe("How to handle the account's data. The default is `keep`."),
      to: AccountName.optional().describe('Account that receives the data with `data=transfer`.'),
    }),
    reply: ok,
  }),
  endSessions: defineRoute({
    method: 'DELETE',
    path: '/api/accounts/:name/sessions',
    summary: 'Ends all sessions of an account. Its access tokens stay valid.',
    access: 'admin',
    reply: z.object({ ended: z.number() }),
  }),
  tokens: defineRoute({
    method: 'GET',
    path: '/api/accounts/:name/tokens',
    summary: 'Lists the access tokens of an account.',
    access: 'admin',
    reply: z.object({ tokens: z.array(AccessToken) }),
  }),
  createToken: defineRoute({
    method: 'POST',
    path: '/api/accounts/:name/tokens',
    summary: 'Creates an access token. The token is returned only in this response.',
    access: 'admin',
    body: NewToken,
    reply: z.object({ token: AccessToken, text: z.string() }),
  }),
  removeToken: defineRoute({
    method: 'DELETE',
    path: '/api/accounts/:name/tokens/:id',
    summary: 'Revokes an access token.',
    access: 'admin',
    reply: ok,
  }),
};
