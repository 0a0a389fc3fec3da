import type { OwnSession } from './access.ts';
import type { AccountDataSummary } from './account-data.ts';
import type { ApiHandler } from '../api.ts';
import type { JobSummary } from '../jobs.ts';
import type { Context } from '../service.ts';
import type { BackupStore } from './backups.ts';
import type { LogLine, LogReply } from './log.ts';
import type { RecentActivityQuery } from '../recent-activity.ts';
import type { HostActivityEvent, Machine, Pulse } from './overview.ts';
import type { ServiceState } from './api.ts';
import type { EngineState } from './engines.ts';
import type { Readiness } from './health.ts';
import type { HostList } from './hosts.ts';
import type { LiveTopic } from './live.ts';
import type { SettingsView } from './settings.ts';

/** Connection to the hosts that share the database. */
export interface OtherHosts {
  /** Name of the server that connects them. */
  readonly over: 'NATS' | 'PostgreSQL';
  readonly connected: number;
}

/** Control over the host, available to the control service only. */
export interface HostControl {
  readonly version: string;
  /** System of this computer. */
  readonly platform: NodeJS.Platform;
  /** True when started with --safe-mode, or when the settings file or its host section is invalid. */
  readonly safeMode: boolean;
  /** Errors in the settings by field path. A service with an error does not run. */
  configProblems(): readonly { readonly path: string; readonly message: string }[];
  services(): Promise<readonly ServiceState[]>;
  /** Returns whether this host can serve requests. */
  readiness(): Promise<Readiness>;
  /** Returns the hosts that share the database. */
  hosts(): Promise<HostList>;
  /**
   * Opens a session for an account that is already authenticated. `byPassword` is that of the session that it
   * replaces.
   */
  openSession(
    account: string,
    from: { readonly remoteAddress: string; readonly userAgent: string; readonly byPassword: boolean },
  ): Promise<{ readonly secret: string }>;
  /** Sessions of an account, on the pages and through the gateway. */
  sessions(account: string): Promise<readonly (Omit<OwnSession, 'current'> & { readonly byPassword: boolean })[]>;
  /** @throws Problem `accounts.unknown_session` (404). */
  endSession(account: string, id: string): Promise<void>;
  /**
   * Ends all sessions of an account and returns their number.
   * @throws Problem `accounts.unknown` (404).
   */
  endSessions(account: string): Promise<number>;
  /** Addresses of the pages that accept one-time links: for other devices first, for this computer last. */
  oneTimeLinkPages(): readonly string[];
  /** Data that an account has in the running services. */
  accountData(account: string): Promise<readonly (AccountDataSummary & { readonly service: string })[]>;
  /**
   * Restarts a service, or starts it. Settings are read again first for a service that could not start because of
   * them.
   */
  restart(id: string): Promise<ServiceState>;
  /**
   * Replaces a stored key of a service by a new one.
   * @throws Problem `host.unknown_key` (404).
   */
  replaceKey(id: string, name: string): Promise<ServiceState>;
  pulses(): Promise<readonly Pulse[]>;
  machine(): Promise<Machine>;
  /** Connection to the hosts that share the database; undefined without one. */
  otherHosts(): OtherHosts | undefined;
  /** Latest events of the running services that the reader may see, newest first. */
  recentActivity(query: RecentActivityQuery): Promise<readonly HostActivityEvent[]>;
  settings(): SettingsView;
  /**
   * Validates, saves and applies settings. Returns the services that were restarted, and those that restart once
   * their transfers have ended.
   */
  changeSettings(
    section: string,
    patch: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly restarted: readonly string[]; readonly pending: readonly string[] }>;
  engines(): Promise<readonly EngineState[]>;
  /** @throws Problem `control.unknown_engine` (404), as the methods below. */
  installEngine(name: string, options: { readonly wait: boolean }): Promise<EngineState>;
  /** Checks the version again. */
  verifyEngine(name: string): Promise<EngineState>;
  /** @throws Problem `engines.not_ours` (409) when Homeport did not install it, `engines.busy` (409). */
  removeEngine(name: string): Promise<EngineState>;
  log(filter: {
    readonly level?: LogLine['level'];
    readonly service?: string;
    readonly text?: string;
    /** Only lines before this time, ms since the epoch. */
    readonly before?: number;
    /** Continues a previous result. */
    readonly cursor?: string;
    readonly limit: number;
  }): Promise<LogReply>;
  readonly backups: BackupStore;
  /**
   * Returns a report for support: versions, services, settings that differ from the defaults, newest errors. Contains
   * no secrets.
   */
  report(): Promise<string>;
  deadJobs(): Promise<readonly (JobSummary & { readonly service: string })[]>;
  retryJob(service: string, id: string): Promise<boolean>;
  dropJob(service: string, id: string): Promise<boolean>;
  /** Live topics of all services, from the manifests. */
  readonly liveTopics: readonly LiveTopic<any>[];
  /** Handlers of all loaded services, including the control service. */
  apiHandlers(): readonly ApiHandler[];
  /** Loads all services and returns the OpenAPI document of their handlers; the same object until they change. */
  openApi(): Promise<object>;
  metrics(service?: string): Promise<string>;
  /** Creates the first administrator with the one-time code, while none exists. */
  readonly firstRun: {
    needed(): Promise<boolean>;
    complete(code: string, name: string, password: string, remoteAddress: string): Promise<void>;
  };
}

/** Context of the control service: a service's context plus the host. */
export interface ControlContext extends Context {
  readonly host: HostControl;
}
