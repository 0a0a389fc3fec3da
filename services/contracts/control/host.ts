import type { OwnSession } from './access.ts';
import type { AccountDataSummary } from './account-data.ts';
import type { RequestListener } from 'node:http';
import type { ApiHandler } from '../api.ts';
import type { JobSummary } from '../jobs.ts';
import type { Context } from '../service.ts';
import type { BackupStore } from './backups.ts';
import type { LogLine, LogReply } from './log.ts';
import type { Machine, Pulse } from './overview.ts';
import type { ServiceState } from './api.ts';
import type { EngineState } from './engines.ts';
import type { LiveTopic } from './live.ts';
import type { SettingsView } from './settings.ts';

/** What only the control service may do with the host that runs it. */
export interface HostControl {
  readonly version: string;
  /** True when started with --safe-mode or because the settings' file, or the host's own part of it, could not be used. */
  readonly safeMode: boolean;
  /** What is wrong with the settings, by field path; a service with a problem of its own does not run. */
  configProblems(): readonly { readonly path: string; readonly message: string }[];
  services(): Promise<readonly ServiceState[]>;
  /** Opens a session for an account that was proven already. */
  openSession(
    account: string,
    from: { readonly remoteAddress: string; readonly userAgent: string },
  ): Promise<{ readonly secret: string }>;
  /** Sessions of an account, on the pages and through the gateway. */
  sessions(account: string): Promise<readonly Omit<OwnSession, 'current'>[]>;
  /** @throws Problem `accounts.unknown_session` (404). */
  endSession(account: string, id: string): Promise<void>;
  /** Ends all sessions of an account and returns their number. @throws Problem `accounts.unknown` (404). */
  endSessions(account: string): Promise<number>;
  /** What an account has in the services that run. */
  accountData(account: string): Promise<readonly (AccountDataSummary & { readonly service: string })[]>;
  /** Stops (if running) and starts a service again; one that its settings keep from running gets them read anew before. */
  restart(id: string): Promise<ServiceState>;
  /** Has a service make a new key in place of a stored one. @throws Problem `host.unknown_key` (404). */
  replaceKey(id: string, name: string): Promise<ServiceState>;
  pulses(): Promise<readonly Pulse[]>;
  machine(): Promise<Machine>;
  settings(): SettingsView;
  /** Verifies, saves and applies. Answers which services were restarted, and which restart once their transfers have ended. */
  changeSettings(
    section: string,
    patch: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly restarted: readonly string[]; readonly pending: readonly string[] }>;
  engines(): Promise<readonly EngineState[]>;
  /** This and those that follow: @throws Problem `control.unknown_engine` (404). */
  installEngine(name: string, options: { readonly wait: boolean }): Promise<EngineState>;
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
