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
    summary: 'People and service accounts with their grants.',
    access: 'admin',
    reply: z.object({ accounts: z.array(Account) }),
  }),
  createAccount: defineRoute({
    method: 'POST',
    path: '/api/accounts',
    summary: 'Makes an account.',
    access: 'admin',
    body: Account.pick({ name: true, kind: true, role: true, description: true, grants: true })
      .partial({ kind: true, role: true, description: true, grants: true })
      .extend({ password: Password.optional() }),
    reply: Account,
  }),
  changeAccount: defineRoute({
    method: 'PATCH',
    path: '/api/accounts/:name',
    summary: 'Changes password, role, grants or switches an account on and off.',
    access: 'admin',
    body: Account.pick({ role: true, enabled: true, description: true, grants: true })
      .partial()
      .extend({ password: Password.optional() }),
    reply: Account.extend({ name: AccountName.or(z.literal(everyone)) }),
  }),
  accountData: defineRoute({
    method: 'GET',
    path: '/api/accounts/:name/data',
    summary: 'What an account has in the services that run.',
    access: 'admin',
    reply: z.object({ data: z.array(AccountDataSummary.extend({ service: z.string() })) }),
  }),
  removeAccount: defineRoute({
    method: 'DELETE',
    path: '/api/accounts/:name',
    summary:
      'Removes an account with its tokens and sessions; its data is deleted, transferred or kept for administrators.',
    access: 'admin',
    query: z.object({
      data: z.enum(['delete', 'transfer', 'keep']).optional().describe('What happens with its data; default: keep'),
      to: AccountName.optional().describe('The account that receives the data with `data=transfer`'),
    }),
    reply: ok,
  }),
  endSessions: defineRoute({
    method: 'DELETE',
    path: '/api/accounts/:name/sessions',
    summary: 'Signs an account out everywhere; its access tokens stay.',
    access: 'admin',
    reply: z.object({ ended: z.number() }),
  }),
  tokens: defineRoute({
    method: 'GET',
    path: '/api/accounts/:name/tokens',
    summary: 'The access tokens of an account.',
    access: 'admin',
    reply: z.object({ tokens: z.array(AccessToken) }),
  }),
  createToken: defineRoute({
    method: 'POST',
    path: '/api/accounts/:name/tokens',
    summary: 'Makes an access token; its text is in this answer only.',
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
