import { z } from 'zod';
import { accountRoutes } from './account-routes.ts';
import { AccountName, Password, Role } from './accounts.ts';
import { PasskeyResponse } from './second-factor.ts';
import { defineRoute, fileReply } from '../api.ts';
import { BackupAge, BackupContents, BackupFile, SetAsideData } from './backups.ts';
import { defineTopic } from '../bus.ts';
import { EngineState } from './engines.ts';
import { JobSummary } from '../jobs.ts';
import { LogLine, LogReply } from './log.ts';
import { Machine, Pulse } from './overview.ts';
import { Grantable, ServiceGroup } from '../service.ts';
import { RunningWork, SuggestedAction } from '../health.ts';
import { SettingsView } from './settings.ts';

/** State of one listener of a service. */
const ListenerState = z
  .object({
    name: z.string(),
    title: z.string(),
    /** Address for local clients; null while the listener is closed. */
    address: z.string().nullable(),
    port: z.int().nullable(),
    /** Reason why the listener is closed. */
    reason: z.string().nullable(),
    /** Setting that holds the port, and a free port when the configured one is taken. */
    setting: z.string(),
    suggestedPort: z.int().nullable(),
  })
  .meta({ id: 'ListenerState' });
export type ListenerState = z.infer<typeof ListenerState>;

/** State of a service as the Home page shows it. */
export const ServiceState = z
  .object({
    id: z.string(),
    title: z.string(),
    summary: z.string(),
    group: ServiceGroup.optional(),
    grantable: z.array(Grantable),
    /** `off`: disabled in the settings; `failed`: it could not start or it ended, see `reason`. */
    state: z.enum(['off', 'starting', 'up', 'degraded', 'failed', 'stopping']),
    /** Short status text while the service runs. */
    detail: z.string(),
    /** Reason why the service is not up, with a remedy. */
    reason: z.string().nullable(),
    /** See `Health`. */
    remedy: SuggestedAction.optional(),
    begin: SuggestedAction.optional(),
    idle: z.literal(true).optional(),
    running: z.array(RunningWork).optional(),
    /**
     * Restart for changed settings that is delayed until these transfers have ended, at most until `until` (ms since
     * the epoch).
     */
    pendingRestart: z.object({ transfers: z.int(), until: z.number() }).optional(),
    /** Address of the main listener for local clients; null while it is closed. */
    address: z.string().nullable(),
    port: z.int().nullable(),
    /** Free port to use instead when the configured port is taken. */
    suggestedPort: z.int().nullable(),
    /** All listeners, the main one first; empty while the service is not running. */
    listeners: z.array(ListenerState),
  })
  .meta({ id: 'ServiceState' });
export type ServiceState = z.infer<typeof ServiceState>;

/** Published when a service's state or status text changes. */
export const serviceChanged = defineTopic('control.service', ServiceState);
/** Published after settings were saved; pages reload what they show. */
export const settingsChanged = defineTopic('control.settings', z.object({ sections: z.array(z.string()) }));

const ok = z.object({ ok: z.literal(true) });
const sessionSecret = z
  .string()
  .describe('Shown only now. Keep it where no other origin gets to see it; never in a cookie.');

const needsEnrollment = z
  .literal(true)
  .optional()
  .describe('The session may only set up the second factor that the account must have.');
const signedIn = z.object({ name: z.string(), role: Role, session: sessionSecret, needsEnrollment });

/** Routes about the host. */
export const controlApi = {
  session: defineRoute({
    method: 'GET',
    path: '/api/session',
    summary: 'Who is signed in, and whether the first administrator is still to be made.',
    access: 'public',
    duringEnrollment: true,
    reply: z.object({
      account: z.object({ name: z.string(), role: Role, needsEnrollment }).nullable(),
      setupNeeded: z.boolean(),
      safeMode: z.boolean(),
      version: z.string(),
      platform: z
        .string()
        .nullable()
        .describe('System that Homeport runs on, as Node names it; null without a sign-in.'),
    }),
  }),
  setup: defineRoute({
    method: 'POST',
    path: '/api/setup',
    summary: 'Makes the first administrator with the one-time code of the first start, and signs in.',
    access: 'public',
    body: z.object({ code: z.string().max(200), name: AccountName, password: Password }),
    reply: z.object({ session: sessionSecret, needsEnrollment }),
  }),
  signIn: defineRoute({
    method: 'POST',
    path: '/api/session',
    summary: 'Signs in, as pages do: each call then brings the secret of the session in the header Homeport-Session.',
    access: 'public',
    duringEnrollment: true,
    body: z.object({ name: z.string().max(64), password: z.string().max(1024) }),
    reply: z.union([
      signedIn,
      z.object({
        ticket: z.string().describe('The account has a second factor: send this with its proof within five minutes.'),
      }),
    ]),
  }),
  secondStep: defineRoute({
    method: 'POST',
    path: '/api/session/second-step',
    summary: 'Completes a sign-in with a code of the authenticator app, a recovery code or a passkey.',
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
    summary: 'Signs out.',
    access: 'user',
    duringEnrollment: true,
    reply: ok,
  }),
  links: defineRoute({
    method: 'POST',
    path: '/api/links',
    summary:
      'Addresses under which a browser may read files of this API for a day, where it can send no header: ' +
      'pictures, players, downloads.',
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
    reply: z.object({ links: z.array(z.string()).describe('One for each path, in their order.') }),
  }),
  services: defineRoute({
    method: 'GET',
    path: '/api/services',
    summary: 'All services with state and address; their living facts for those who may read them.',
    access: 'user',
    reply: z.object({
      services: z.array(ServiceState),
      configProblems: z.array(z.object({ path: z.string(), message: z.string() })),
    }),
  }),
  overview: defineRoute({
    method: 'GET',
    path: '/api/overview',
    summary:
      'How busy each service was in the last 24 hours, for those who may read it; for administrators the machine ' +
      'and the age of the newest backup.',
    access: 'user',
    reply: z.object({ pulses: z.array(Pulse), machine: Machine.nullable(), backup: BackupAge.nullable() }),
  }),
  restart: defineRoute({
    method: 'POST',
    path: '/api/services/:id/restart',
    summary: 'Starts a service again.',
    access: 'admin',
    reply: ServiceState,
  }),
  settings: defineRoute({
    method: 'GET',
    path: '/api/settings',
    summary: 'All settings with their schema, value and where the value comes from.',
    access: 'admin',
    reply: SettingsView,
  }),
  replaceKey: defineRoute({
    method: 'POST',
    path: '/api/services/:id/keys/:name/replace',
    summary: 'Has a service make a new key in place of a stored one that cannot be read, and restarts it.',
    access: 'admin',
    reply: ServiceState,
  }),
  changeSettings: defineRoute({
    method: 'PATCH',
    path: '/api/settings/:section',
    summary: 'Changes settings of one section (`host` or a service); null goes back to the default.',
    access: 'admin',
    body: z.record(z.string(), z.unknown()),
    reply: z.object({
      restarted: z.array(z.string()),
      pending: z
        .array(z.string())
        .optional()
        .describe('Services that restart once their running transfers have ended.'),
    }),
  }),
  engines: defineRoute({
    method: 'GET',
    path: '/api/engines',
    summary: 'The outside programs and their versions.',
    access: 'admin',
    reply: z.object({ engines: z.array(EngineState) }),
  }),
  installEngine: defineRoute({
    method: 'POST',
    path: '/api/engines/:name/install',
    summary: 'Installs or updates an engine, verified. With `wait=false` it answers once that has begun.',
    access: 'admin',
    query: z.object({ wait: z.enum(['true', 'false']).default('true') }),
    reply: EngineState,
  }),
  verifyEngine: defineRoute({
    method: 'POST',
    path: '/api/engines/:name/verify',
    summary: 'Looks for an engine anew and asks it for its version.',
    access: 'admin',
    reply: EngineState,
  }),
  removeEngine: defineRoute({
    method: 'DELETE',
    path: '/api/engines/:name',
    summary: 'Removes an engine that Homeport installed; programs of the system stay.',
    access: 'admin',
    reply: EngineState,
  }),
  log: defineRoute({
    method: 'GET',
    path: '/api/log',
    summary: 'The newest lines of the log, also of earlier starts, without secrets.',
    access: 'admin',
    query: z.object({
      level: LogLine.shape.level.optional(),
      service: z.string().optional(),
      text: z.string().optional(),
      before: z.coerce.number().optional().describe('Only lines before this moment, ms since the epoch.'),
      cursor: z
        .string()
        .regex(/^\d{1,16}\.\d{1,9}$/)
        .optional()
        .describe('Goes on with earlier lines where an answer before ended.'),
      limit: z.coerce.number().int().min(1).max(2000).default(200),
    }),
    reply: LogReply,
  }),
  report: defineRoute({
    method: 'GET',
    path: '/api/report',
    summary: 'What somebody who helps has to know, as text without secrets.',
    access: 'admin',
    reply: z.object({ text: z.string() }),
  }),
  backups: defineRoute({
    method: 'GET',
    path: '/api/backups',
    summary: 'The backups in the folder of backups, newest first.',
    access: 'admin',
    reply: z.object({
      folder: z.string(),
      backups: z.array(BackupFile),
      isOld: z.boolean(),
      setAside: z.array(SetAsideData).describe('What restores have replaced, newest first.'),
    }),
  }),
  takeBackup: defineRoute({
    method: 'POST',
    path: '/api/backups/file',
    summary:
      'Keeps a backup that was made elsewhere, such as on the computer before this one; 422 `backup.damaged` ' +
      'where a file of it is not whole.',
    access: 'admin',
    bytes: true,
    reply: BackupFile,
  }),
  backupContents: defineRoute({
    method: 'GET',
    path: '/api/backups/:name/contents',
    summary: 'What a backup holds, after each of its files was verified; 422 `backup.damaged`.',
    access: 'admin',
    reply: BackupContents,
  }),
  restoreBackup: defineRoute({
    method: 'POST',
    path: '/api/backups/:name/restore',
    summary:
      'Verifies a backup and starts Homeport anew with it, right after the answer. What there was before is set ' +
      'aside in the data folder.',
    access: 'admin',
    body: z.object({ confirm: z.literal('restore').describe('So that nobody does it by mistake.') }),
    reply: ok,
  }),
  putBack: defineRoute({
    method: 'POST',
    path: '/api/backups/set-aside/:name/put-back',
    summary: 'Starts Homeport anew with what a restore had replaced; what there is now is set aside in its turn.',
    access: 'admin',
    reply: ok,
  }),
  removeSetAside: defineRoute({
    method: 'DELETE',
    path: '/api/backups/set-aside/:name',
    summary: 'Removes what a restore had replaced for good.',
    access: 'admin',
    reply: ok,
  }),
  backupFile: defineRoute({
    method: 'GET',
    path: '/api/backups/:name/file',
    summary: 'A backup, to be kept elsewhere. It holds the key of the stored secrets.',
    access: 'admin',
    reply: fileReply,
  }),
  makeBackup: defineRoute({
    method: 'POST',
    path: '/api/backups',
    summary: 'Saves the whole data folder into a backup, while everything runs.',
    access: 'admin',
    reply: BackupFile,
  }),
  removeBackup: defineRoute({
    method: 'DELETE',
    path: '/api/backups/:name',
    summary: 'Removes a backup for good.',
    access: 'admin',
    reply: ok,
  }),
  deadJobs: defineRoute({
    method: 'GET',
    path: '/api/jobs/dead',
    summary: 'Work that was given up, of all services.',
    access: 'admin',
    reply: z.object({ jobs: z.array(JobSummary.extend({ service: z.string() })) }),
  }),
  retryJob: defineRoute({
    method: 'POST',
    path: '/api/jobs/:service/:id/retry',
    summary: 'Tries given-up work again now.',
    access: 'admin',
    reply: ok,
  }),
  dropJob: defineRoute({
    method: 'DELETE',
    path: '/api/jobs/:service/:id',
    summary: 'Drops given-up work for good.',
    access: 'admin',
    reply: ok,
  }),
  ...accountRoutes,
};
