import { z } from 'zod';
import { defineRoute } from '../api.ts';

const Code = z.object({ code: z.string().min(6).max(32) });
const done = z.object({});

/** Our own API around the code that is asked for after the password at the gateway's sign-in. */
export const secondFactorApi = {
  read: defineRoute({
    method: 'GET',
    path: '/api/gateway/second-factor',
    summary: 'Whether your sign-in on the network asks for a code of an app as well.',
    access: 'user',
    reply: z.object({ on: z.boolean(), recoveryLeft: z.number() }),
  }),
  begin: defineRoute({
    method: 'POST',
    path: '/api/gateway/second-factor',
    summary: 'Makes a secret for an authenticator app; it counts once a code of it was confirmed.',
    access: 'user',
    reply: z.object({ secret: z.string(), uri: z.string().describe('What the app scans.') }),
  }),
  confirm: defineRoute({
    method: 'POST',
    path: '/api/gateway/second-factor/confirm',
    summary: 'Switches it on by a first code. The recovery codes are in this answer only.',
    access: 'user',
    body: Code,
    reply: z.object({ recoveryCodes: z.array(z.string()) }),
  }),
  switchOff: defineRoute({
    method: 'POST',
    path: '/api/gateway/second-factor/off',
    summary: 'Switches it off by a code of the app or one on paper.',
    access: 'user',
    body: Code,
    reply: done,
  }),
  reset: defineRoute({
    method: 'DELETE',
    path: '/api/gateway/second-factors/:account',
    summary: 'Switches it off for somebody who has lost the app and the codes.',
    access: 'admin',
    reply: done,
  }),
};
