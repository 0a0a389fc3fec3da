import { z } from 'zod';
import { accountRoutes } from './account-routes.ts';
import { defineRoute } from '../api.ts';
import { backupRoutes } from './backup-routes.ts';
import { BackupAge } from './backups.ts';
import { defineTopic } from '../bus.ts';
import { engineRoutes } from './engine-routes.ts';
import { hostRoutes } from './hosts.ts';
import { jobRoutes } from './job-routes.ts';
import { LogLine, LogReply } from './log.ts';
import { HostActivityEvent, Machine, Pulse } from './overview.ts';
import { sessionRoutes } from './session-routes.ts';
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

/** Routes about the host. */
export const controlApi = {
  ...sessionRoutes,
  ...hostRoutes,
  services: defineRoute({
    method: 'GET',
    path: '/api/services',
    summary:
      'Lists all services with their state and address. Current status details are included if the caller can ' +
      'read the service.',
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
      'Returns the activity of the last 24 hours and the latest events of the services that the caller can ' +
      'read. Administrators also receive the state of the computer and the age of the newest backup.',
    access: 'user',
    reply: z.object({
      pulses: z.array(Pulse),
      activity: z.array(HostActivityEvent).describe('Events that are not in the inbox, newest first.'),
      machine: Machine.nullable(),
      backup: BackupAge.nullable(),
    }),
  }),
  restart: defineRoute({
    method: 'POST',
    path: '/api/services/:id/restart',
    summary: 'Restarts a service.',
    access: 'admin',
    reply: ServiceState,
  }),
  settings: defineRoute({
    method: 'GET',
    path: '/api/settings',
    summary: 'Returns all settings with their schema, their value, and the source of the value.',
    access: 'admin',
    reply: SettingsView,
  }),
  replaceKey: defineRoute({
    method: 'POST',
    path: '/api/services/:id/keys/:name/replace',
    summary: 'Replaces a stored key that cannot be read with a new one, and restarts the service.',
    access: 'admin',
    reply: ServiceState,
  }),
  changeSettings: defineRoute({
    method: 'PATCH',
    path: '/api/settings/:section',
    summary: 'Changes settings in one section (`host` or a service). Null restores the default.',
    access: 'admin',
    body: z.record(z.string(), z.unknown()),
    reply: z.object({
      restarted: z.array(z.string()),
      pending: z
        .array(z.string())
        .optional()
        .describe('Services that will restart when their running transfers have finished.'),
    }),
  }),
  ...engineRoutes,
  log: defineRoute({
    method: 'GET',
    path: '/api/log',
    summary: 'Returns the newest log lines, including lines from earlier starts. Secrets are removed.',
    access: 'admin',
    query: z.object({
      level: LogLine.shape.level.optional(),
      service: z.string().optional(),
      text: z.string().optional(),
      before: z.coerce.number().optional().describe('Returns only lines before this time, in ms since the epoch.'),
      cursor: z
        .string()
        .regex(/^\d{1,16}\.\d{1,9}$/)
        .optional()
        .describe('Cursor from a previous response; returns the lines before it.'),
      limit: z.coerce.number().int().min(1).max(2000).default(200),
    }),
    reply: LogReply,
  }),
  report: defineRoute({
    method: 'GET',
    path: '/api/report',
    summary: 'Returns a text report for troubleshooting. Secrets are removed.',
    access: 'admin',
    reply: z.object({ text: z.string() }),
  }),
  ...backupRoutes,
  ...jobRoutes,
  ...accountRoutes,
};
