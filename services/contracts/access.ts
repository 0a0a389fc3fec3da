import { z } from 'zod';
import { AccountName, Grant } from './accounts.ts';
import { defineRoute } from './api.ts';

/** Why an answer about access came out as it did. */
export const AccessReason = z.enum(['administrator', 'switched-off', 'granted', 'not-granted']);
export type AccessReason = z.infer<typeof AccessReason>;

/** Our own API around who may do what; answered by the control service. */
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
