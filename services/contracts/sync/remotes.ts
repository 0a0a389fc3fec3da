import * as m from '#messages/sync-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';

/** Configured rclone remote, without its secrets. */
export const SyncRemote = z.object({
  name: z.string(),
  type: z.string(),
  summary: z.string(),
  /** The set-up is not complete; until then the remote cannot be edited. */
  isBeingSetUp: z.boolean(),
});
export type SyncRemote = z.infer<typeof SyncRemote>;

/** Field of a provider's form, as the engine describes it. */
export const ProviderField = z.object({
  name: z.string(),
  help: z.string(),
  kind: z.enum(['text', 'secret', 'switch', 'choice']),
  required: z.boolean(),
  advanced: z.boolean(),
  default: z.string(),
  /** Value of another field for which this field is shown; empty for always. */
  provider: z.string(),
  choices: z.array(z.object({ value: z.string(), help: z.string(), provider: z.string() })),
});
export type ProviderField = z.infer<typeof ProviderField>;

/** Kind of remote that rclone supports, with its fields. */
export const SyncProvider = z.object({
  type: z.string(),
  title: z.string(),
  needsBrowser: z.boolean(),
  fields: z.array(ProviderField),
});
export type SyncProvider = z.infer<typeof SyncProvider>;

/** Question of the engine during the set-up of a remote. */
export const RemoteQuestion = ProviderField.pick({
  name: true,
  help: true,
  kind: true,
  required: true,
  default: true,
}).extend({
  choices: z.array(z.object({ value: z.string(), help: z.string() })),
  /** Error in the last answer. */
  error: z.string(),
});
export type RemoteQuestion = z.infer<typeof RemoteQuestion>;
/** State of the set-up of a remote. */
export const RemoteStep = z.discriminatedUnion('step', [
  z.object({ step: z.literal('done') }),
  z.object({ step: z.literal('question'), question: RemoteQuestion }),
  /** The user must open this address in a browser on the computer of Homeport and sign in. */
  z.object({ step: z.literal('browser'), address: z.string() }),
  z.object({ step: z.literal('failed'), error: z.string() }),
]);
export type RemoteStep = z.infer<typeof RemoteStep>;

const ok = z.object({ ok: z.literal(true) });

/** Routes for remotes, whose set-up is a dialog with the engine; for administrators. */
export const remoteRoutes = {
  remotes: defineRoute({
    method: 'GET',
    path: '/api/sync/remotes',
    summary: 'Lists the configured remotes, without their secrets.',
    access: 'admin',
    reply: z.object({ remotes: z.array(SyncRemote) }),
  }),
  providers: defineRoute({
    method: 'GET',
    path: '/api/sync/providers',
    summary: 'Lists the types of remotes that rclone supports, and the options of each type.',
    access: 'admin',
    reply: z.object({ providers: z.array(SyncProvider) }),
  }),
  addRemote: defineRoute({
    method: 'POST',
    path: '/api/sync/remotes',
    summary:
      'Sets up a remote. If more information is needed, the response contains the next question. Secrets are ' +
      'stored encrypted.',
    access: 'admin',
    body: z.object({
      name: z.string().regex(/^[A-Za-z0-9_][\w.+@-]{0,59}$/, { error: m.remoteNameInvalid }),
      type: z.string().regex(/^[a-z0-9 ]{1,60}$/),
      parameters: z.record(z.string().max(100), z.string().max(20_000)),
    }),
    reply: RemoteStep,
  }),
  remote: defineRoute({
    method: 'GET',
    path: '/api/sync/remotes/:name',
    summary: 'Returns the configuration of a remote. Of its secrets, only the names are included.',
    access: 'admin',
    reply: z.object({
      name: z.string(),
      type: z.string(),
      values: z.record(z.string(), z.string()),
      /** Names of the secret fields. */
      secrets: z.array(z.string()),
    }),
  }),
  changeRemote: defineRoute({
    method: 'PATCH',
    path: '/api/sync/remotes/:name',
    summary:
      'Changes the fields in the request, if the remote responds with the new values. Otherwise, its ' +
      'configuration does not change.',
    access: 'admin',
    body: z.object({
      parameters: z.record(z.string().regex(/^[a-z0-9][a-z0-9_]{0,99}$/), z.string().max(20_000)),
    }),
    reply: ok,
  }),
  remoteSetup: defineRoute({
    method: 'GET',
    path: '/api/sync/remotes/:name/setup',
    summary: "Returns the progress of a remote's setup, for example after a sign-in on the provider's page.",
    access: 'admin',
    reply: RemoteStep,
  }),
  answerRemote: defineRoute({
    method: 'POST',
    path: '/api/sync/remotes/:name/setup',
    summary: 'Answers a question in the setup of a remote.',
    access: 'admin',
    body: z.object({ answer: z.string().max(20_000) }),
    reply: RemoteStep,
  }),
  giveUpRemote: defineRoute({
    method: 'DELETE',
    path: '/api/sync/remotes/:name/setup',
    summary: 'Cancels the setup of a remote and removes it. Returns 409 if the setup has already been completed.',
    access: 'admin',
    reply: ok,
  }),
  removeRemote: defineRoute({
    method: 'DELETE',
    path: '/api/sync/remotes/:name',
    summary: 'Removes a remote, even during its setup. Its files are kept.',
    access: 'admin',
    reply: ok,
  }),
};
