import type { RequestListener } from 'node:http';
import { z } from 'zod';
import { Account, AccessToken, AccountName, NewToken, Password, Role } from './accounts.ts';
import { defineRoute, fileReply, type ApiHandler } from '../api.ts';
import { defineTopic } from '../bus.ts';
import { EngineState } from './engines.ts';
import type { LiveTopic } from './live.ts';
import { JobSummary } from '../jobs.ts';
import type { Rights } from '../route-access.ts';
import { Grantable, RunningWork, ServiceGroup, Step, type Context } from '../service.ts';
import { SettingsView } from './settings.ts';

/** One of a service's listeners. */
const ListenerState = z
  .object({
    name: z.string(),
    title: z.string(),
    /** Address for local clients, null while it is not open. */
    address: z.string().nullable(),
    port: z.int().nullable(),
    /** Why it is not open. */
    reason: z.string().nullable(),
    /** The setting that holds its port, and a free one where that is taken. */
    setting: z.string(),
    suggestedPort: z.int().nullable(),
  })
  .meta({ id: 'ListenerState' });
export type ListenerState = z.infer<typeof ListenerState>;

/** A service as the Home page shows it. */
export const ServiceState = z
  .object({
    id: z.string(),
    title: z.string(),
    summary: z.string(),
    group: ServiceGroup.optional(),
    grantable: z.array(Grantable),
    /** `off`: switched off in the settings; `failed`: it could not start or stopped, see `reason`. */
    state: z.enum(['off', 'starting', 'up', 'degraded', 'failed', 'stopping']),
    /** One living fact while it runs. */
    detail: z.string(),
    /** Why it is not up, and what to do. */
    reason: z.string().nullable(),
    /** See `Health`. */
    remedy: Step.optional(),
    begin: Step.optional(),
    running: z.array(RunningWork).optional(),
    /** Address of its main listener for local clients, null while that is not open. */
    address: z.string().nullable(),
    port: z.int().nullable(),
    /** When the port is taken: a free one to use instead. */
    suggestedPort: z.int().nullable(),
    /** All its listeners, the main one first; none while it does not run. */
    listeners: z.array(ListenerState),
  })
  .meta({ id: 'ServiceState' });
export type ServiceState = z.infer<typeof ServiceState>;

/** A service as somebody may see it: its living fact counts what belongs to others, so it is for those who may read all of the service. */
export function shownService(service: ServiceState, rights: Rights): ServiceState {
  if (rights.all) return service;
  const withoutOffers = {
    ...service,
    suggestedPort: null,
    listeners: service.listeners.map((listener) => ({ ...listener, suggestedPort: null })),
  };
  if (rights.may(service.id, 'read', '*')) return withoutOffers;
  const hide = (reason: string | null): string | null => (reason === null ? null : 'An administrator can see why.');
  const { remedy: _, begin: __, running: ___, ...rest } = withoutOffers;
  return {
    ...rest,
    detail: '',
    reason: hide(service.reason),
    listeners: withoutOffers.listeners.map((listener) => ({ ...listener, reason: hide(listener.reason) })),
  };
}

/** How busy a service was: what its manifest says Home counts of it. */
export const Pulse = z
  .object({
    service: z.string(),
    /** What is counted: `messages`. */
    what: z.string(),
    hours: z.array(z.number()).describe('Of the last 24 hours, oldest first; the last one is not over yet.'),
  })
  .meta({ id: 'Pulse' });
export type Pulse = z.infer<typeof Pulse>;

/** What is left of the machine that Homeport runs on. */
export const Machine = z
  .object({
    cpu: z.number().describe('Share of all processors that was busy since the look before, 0 to 1.'),
    memory: z.object({ total: z.number(), free: z.number(), own: z.number() }).describe('Bytes; `own`: of the host.'),
    disk: z
      .object({ total: z.number(), free: z.number() })
      .nullable()
      .describe('Bytes, where the data folder is; null where the system does not tell.'),
  })
  .meta({ id: 'Machine' });
export type Machine = z.infer<typeof Machine>;

/** A service's state changed, or its living fact. */
export const serviceChanged = defineTopic('control.service', ServiceState);
/** Settings were saved; pages that show them read them anew. */
export const settingsChanged = defineTopic('control.settings', z.object({ sections: z.array(z.string()) }));

/** The machine was asleep: what goes by the clock is looked at anew. */
export const machineWoke = defineTopic('control.woke', z.object({}));

export const LogLine = z.object({
  time: z.number(),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  service: z.string(),
  message: z.string(),
  fields: z.record(z.string(), z.unknown()),
});
export type LogLine = z.infer<typeof LogLine>;

const LogReply = z.object({
  /** Oldest first. */
  lines: z.array(LogLine),
  cursor: z
    .string()
    .nullable()
    .describe(
      'For the next question: there are earlier lines, or the files were not read to their end. Null: this is all.',
    ),
});
type LogReply = z.infer<typeof LogReply>;

/** A backup that lies in the folder of backups. */
export const BackupFile = z
  .object({
    /** File name, without a folder. */
    name: z.string(),
    bytes: z.number(),
    createdAt: z.number().describe('ms since the epoch'),
  })
  .meta({ id: 'BackupFile' });
export type BackupFile = z.infer<typeof BackupFile>;

export const BackupAge = z.object({ newestAt: z.number().nullable(), isOld: z.boolean() }).meta({ id: 'BackupAge' });
export type BackupAge = z.infer<typeof BackupAge>;

/** The host's backups, newest first. */
export interface BackupStore {
  /** Absolute path of the folder. */
  folder(): string;
  list(): Promise<readonly BackupFile[]>;
  /** When the newest one was made, and whether that is too long ago for what there is to lose. */
  age(): Promise<BackupAge>;
  /** Writes one now; one at a time. @throws Problem `backup.target` (507), `backup.running` (409). */
  make(): Promise<BackupFile>;
  /** @throws Problem `backup.unknown` (404). */
  remove(name: string): Promise<void>;
  /** Absolute path of one that is there. @throws Problem `backup.unknown` (404). */
  path(name: string): Promise<string>;
}

/** What only the control service may do with the host that runs it. */
export interface HostControl {
  readonly version: string;
  /** True when started with --safe-mode or because the settings' file, or the host's own part of it, could not be used. */
  readonly safeMode: boolean;
  /** What is wrong with the settings, by field path; a service with a problem of its own does not run. */
  configProblems(): readonly { readonly path: string; readonly message: string }[];
  services(): Promise<readonly ServiceState[]>;
  /** Stops (if running) and starts a service again; one that its settings keep from running gets them read anew before. */
  restart(id: string): Promise<ServiceState>;
  pulses(): Promise<readonly Pulse[]>;
  machine(): Promise<Machine>;
  settings(): SettingsView;
  /** Verifies, saves and applies. Answers which services were started anew. */
  changeSettings(
    section: string,
    patch: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly restarted: readonly string[] }>;
  engines(): Promise<readonly EngineState[]>;
  /** This and those that follow: @throws Problem `control.unknown_engine` (404). */
  installEngine(name: string): Promise<EngineState>;
  /** Asks it for its version again. */
  verifyEngine(name: string): Promise<EngineState>;
  /** @throws Problem `engines.not_ours` (409) when it is not one that Homeport installed, `engines.busy` (409). */
  removeEngine(name: string): Promise<EngineState>;
  log(filter: {
    readonly level?: LogLine['level'];
    readonly service?: string;
    readonly text?: string;
    /** Only lines before this moment, ms since the epoch. */
    readonly before?: number;
    /** Goes on where an answer before ended. */
    readonly cursor?: string;
    readonly limit: number;
  }): Promise<LogReply>;
  readonly backups: BackupStore;
  /** What somebody who helps has to know: versions, services, settings that are not the default, newest errors. No secrets. */
  report(): Promise<string>;
  deadJobs(): Promise<readonly (JobSummary & { readonly service: string })[]>;
  retryJob(service: string, id: string): Promise<boolean>;
  dropJob(service: string, id: string): Promise<boolean>;
  /** What pages hear of all services, as the manifests say. */
  readonly liveTopics: readonly LiveTopic<any>[];
  /** Handlers of all running services, the control service's own included. */
  apiHandlers(): readonly ApiHandler[];
  /** The OpenAPI document made out of the handlers. */
  openApi(): unknown;
  /** Answers a request below `/api` from the handlers; an unknown path gets the API's own 404. */
  readonly handleApi: RequestListener;
  /** Answers any other path: the built pages and their files. */
  readonly handlePage: RequestListener;
  metrics(service?: string): Promise<string>;
  /** While no administrator exists: creates the first with the one-time code. */
  readonly firstRun: {
    needed(): Promise<boolean>;
    complete(code: string, name: string, password: string, remoteAddress: string): Promise<void>;
  };
}

/** The control service's context: a service's own and the host. */
export interface ControlContext extends Context {
  readonly host: HostControl;
}

const ok = z.object({ ok: z.literal(true) });
const sessionSecret = z
  .string()
  .describe('Shown only now. Keep it where no other origin gets to see it; never in a cookie.');

/** Our own API around the host. */
export const controlApi = {
  session: defineRoute({
    method: 'GET',
    path: '/api/session',
    summary: 'Who is signed in, and whether the first administrator is still to be made.',
    access: 'public',
    reply: z.object({
      account: z.object({ name: z.string(), role: Role }).nullable(),
      setupNeeded: z.boolean(),
      safeMode: z.boolean(),
      version: z.string(),
    }),
  }),
  setup: defineRoute({
    method: 'POST',
    path: '/api/setup',
    summary: 'Makes the first administrator with the one-time code of the first start, and signs in.',
    access: 'public',
    body: z.object({ code: z.string().max(200), name: AccountName, password: Password }),
    reply: z.object({ session: sessionSecret }),
  }),
  signIn: defineRoute({
    method: 'POST',
    path: '/api/session',
    summary: 'Signs in, as pages do: each call then brings the secret of the session in the header Homeport-Session.',
    access: 'public',
    body: z.object({ name: z.string().max(64), password: z.string().max(1024) }),
    reply: z.object({ name: z.string(), role: Role, session: sessionSecret }),
  }),
  signOut: defineRoute({ method: 'DELETE', path: '/api/session', summary: 'Signs out.', access: 'user', reply: ok }),
  links: defineRoute({
    method: 'POST',
    path: '/api/links',
    summary:
      'Addresses under which a browser may read files of this API for a day, where it can send no header: pictures, players, downloads.',
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
      'How busy each service was in the last 24 hours, for those who may read it; for administrators the machine and the age of the newest backup.',
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
  changeSettings: defineRoute({
    method: 'PATCH',
    path: '/api/settings/:section',
    summary: 'Changes settings of one section (`host` or a service); null goes back to the default.',
    access: 'admin',
    body: z.record(z.string(), z.unknown()),
    reply: z.object({ restarted: z.array(z.string()) }),
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
    summary: 'Installs or updates an engine, verified.',
    access: 'admin',
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
    reply: z.object({ folder: z.string(), backups: z.array(BackupFile), isOld: z.boolean() }),
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
    reply: Account,
  }),
  removeAccount: defineRoute({
    method: 'DELETE',
    path: '/api/accounts/:name',
    summary: 'Removes an account with its tokens and sessions.',
    access: 'admin',
    reply: ok,
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
