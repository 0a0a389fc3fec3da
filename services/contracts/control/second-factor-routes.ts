import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { Passkey, PasskeyResponse, SecondFactorStatus } from './second-factor.ts';

/** Options for the browser's WebAuthn API, as JSON. */
const passkeyOptions = z.record(z.string(), z.unknown());

const Code = z.object({ code: z.string().min(6).max(32) });
/** The password of the own account: an open page alone must not be enough to change how its owner signs in. */
const OwnPassword = z.object({ password: z.string().max(1024) });
const done = z.object({});

/** Routes about the second factor of the caller's account, and its reset by an administrator. */
export const secondFactorApi = {
  read: defineRoute({
    method: 'GET',
    path: '/api/account/second-factor',
    summary: "Returns whether the caller's sign-in requires a second factor, and the caller's passkeys.",
    access: 'user',
    duringEnrollment: true,
    reply: SecondFactorStatus,
  }),
  begin: defineRoute({
    method: 'POST',
    path: '/api/account/second-factor',
    summary: 'Creates a secret for an authenticator app. It takes effect when a code from the app has been confirmed.',
    access: 'user',
    duringEnrollment: true,
    body: OwnPassword,
    reply: z.object({ secret: z.string(), uri: z.string().describe('Address to show as a QR code for the app.') }),
  }),
  confirm: defineRoute({
    method: 'POST',
    path: '/api/account/second-factor/confirm',
    summary: 'Enables the second factor with a first code. The recovery codes are returned only in this response.',
    access: 'user',
    duringEnrollment: true,
    body: Code,
    reply: z.object({ recoveryCodes: z.array(z.string()) }),
  }),
  renewRecoveryCodes: defineRoute({
    method: 'POST',
    path: '/api/account/second-factor/recovery-codes',
    summary:
      'Replaces the recovery codes, with a code from the app or a recovery code. The new ones are in this answer only.',
    access: 'user',
    body: Code,
    reply: z.object({ recoveryCodes: z.array(z.string()) }),
  }),
  disable: defineRoute({
    method: 'POST',
    path: '/api/account/second-factor/off',
    summary: 'Disables the second factor with a code from the app or a recovery code, and removes the passkeys.',
    access: 'user',
    body: Code,
    reply: done,
  }),
  beginPasskey: defineRoute({
    method: 'POST',
    path: '/api/account/passkeys/options',
    summary: 'Returns the options that the browser needs to create a passkey for this host name.',
    access: 'user',
    body: OwnPassword,
    reply: z.object({ options: passkeyOptions }),
  }),
  addPasskey: defineRoute({
    method: 'POST',
    path: '/api/account/passkeys',
    summary: 'Adds the passkey that the browser created.',
    access: 'user',
    body: z.object({ label: z.string().max(100).default(''), response: PasskeyResponse }),
    reply: Passkey,
  }),
  removePasskey: defineRoute({
    method: 'POST',
    path: '/api/account/passkeys/:id/remove',
    summary: 'Removes a passkey.',
    access: 'user',
    body: OwnPassword,
    reply: done,
  }),
  reset: defineRoute({
    method: 'DELETE',
    path: '/api/accounts/:name/second-factor',
    summary:
      'Disables the second factor of another account that has lost its app and recovery codes, and ends all its ' +
      'sessions.',
    access: 'admin',
    reply: done,
  }),
  passkeyOptions: defineRoute({
    method: 'POST',
    path: '/api/session/passkey',
    summary: 'Returns the options that the browser needs to confirm a sign-in with a passkey.',
    access: 'public',
    body: z.object({ ticket: z.string().max(64) }),
    reply: z.object({ options: passkeyOptions.nullable() }),
  }),
};
