import type { IncomingMessage } from 'node:http';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { AppPages } from './app-pages.ts';
import type { AccountData } from './control/account-data.ts';
import type { Accounts, Credentials, Grant } from './control/accounts.ts';
import type { ApiHandler } from './api.ts';
import type { Bus, Handovers } from './bus.ts';
import type { Feeds } from './feeds.ts';
import type { Blobs } from './blobs.ts';
import type { Children } from './children.ts';
import type { Hosts } from './hosts.ts';
import type { Health } from './health.ts';
import type { ListenerHandler, ListenerManifest } from './listeners.ts';
import type { Metrics } from './metrics.ts';
import type { Connect, Fetch, FetchStream } from './outgoing.ts';
import type { EngineSpec } from './control/engine-spec.ts';
import type { Engines } from './control/engines.ts';
import type { LogFields } from './control/log.ts';
import type { LiveTopic } from './control/live.ts';
import type { Jobs } from './jobs.ts';
import type { Leases } from './leases.ts';
import type { Text } from './text.ts';
import type { RecentActivityQuery, RecentEvent } from './recent-activity.ts';

/**
 * Structured log: a short constant message and fields. Fields whose name suggests a secret are redacted. `event`
 * identifies an entry for programs, since the message may change.
 */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Source of time and timers that tests can replace. */
export interface Clock {
  /** ms since the epoch. */
  now(): number;
  /** Calls once after `ms`; disposal cancels. Does not keep the process alive. */
  after(ms: number, call: () => void): Disposable;
  /** Calls every `ms` until disposed. */
  every(ms: number, call: () => void): Disposable;
}

/** Cryptographically strong random source that tests can replace. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** `length` characters of A-Z a-z 0-9. */
  text(length: number): string;
}

/** Encrypts secrets at rest. */
export interface Vault {
  /**
   * Encrypts text to `v1.…`, with a different result each time. `purpose` is authenticated: `open` requires the same
   * one.
   */
  seal(text: string, purpose: string): string;
  /** @throws Problem `vault.unreadable` (500) when it was sealed under another key or purpose, or was changed. */
  open(sealed: string, purpose: string): string;
  /**
   * Returns a keyed hash of 64 hexadecimal digits, which is stable for a text and purpose and does not reveal the
   * text.
   */
  fingerprint(text: string, purpose: string): string;
}

/** Origin of a request for `Accounts.authenticate`, with the identity that a gateway authenticated, if any. */
export type Caller = Required<Pick<Credentials, 'remoteAddress' | 'isCrossSite'>> &
  Pick<Credentials, 'gatewayIdentity'>;

/**
 * Dependencies that the host provides to a service. There is no global state, and services interact only through
 * contracts.
 */
export interface Context {
  /** Tables of this service: an SQLite file, or a PostgreSQL schema named by its id. */
  readonly db: Kysely<any>;
  /**
   * Read-only access to the same tables outside of the event loop, for queries over many rows, such as lists,
   * searches, counts and exports. It sees all committed data. A statement returns at most 32 MiB, and there are no
   * transactions. Queries of a GET route are cancelled when its client disconnects. On PostgreSQL it is `db`.
   */
  readonly reads: Kysely<any>;
  /**
   * Joins the next group commit: the work of all waiting callers runs in one transaction with one sync. Resolves when
   * the disk has it; reads on `db` may see it slightly earlier. Work must only use `transaction`, since it runs again
   * on its own when another caller's work fails.
   */
  readonly commit: <T>(work: (transaction: Kysely<any>) => Promise<T>) => Promise<T>;
  /** Ownership of periodic work among the hosts that use these tables. */
  readonly leases: Leases;
  /** No other host uses these tables, so rows remain unchanged until this host writes them. */
  readonly singleHost: boolean;
  /** Absolute path of the service's data folder; it exists. */
  readonly files: string;
  /** Contents of files that rows refer to; in the service's folder, or in a store that several hosts share. */
  readonly blobs: Blobs;
  readonly bus: Bus;
  readonly handovers: Handovers;
  readonly feeds: Feeds;
  readonly jobs: Jobs;
  readonly accounts: Accounts;
  readonly vault: Vault;
  readonly engines: Engines;
  readonly children: Children;
  readonly fetch: Fetch & { readonly stream: FetchStream };
  readonly connect: Connect;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Returns the base address of a service's listener for local clients (`http://127.0.0.1:2586`), by default of the
   * main one; undefined while it is closed.
   */
  readonly address: (serviceId: string, listener?: string) => string | undefined;
  /**
   * Returns the addresses of all open listeners, of ports that a gateway opened for other computers, and of child
   * processes: outgoing requests on behalf of clients must not reach them.
   */
  readonly addresses: () => readonly string[];
  /** Returns the origin of a request to this service's listener, as reported by a trusted proxy if there is one. */
  readonly caller: (request: IncomingMessage) => Caller;
  /**
   * Resolves to true for a request that another program on this computer sent directly to this service's listener.
   * False for requests of Homeport itself, of its child processes, and through a gateway.
   */
  readonly isLocalProgram: (request: IncomingMessage) => Promise<boolean>;
  /**
   * Returns the address at which clients reach this service, without a trailing slash: the one used in the request,
   * as reported by a trusted proxy (`https://push.example.org`); without a request, the one for local clients.
   */
  readonly publicUrl: (request?: IncomingMessage) => string | undefined;
  /**
   * Runs work whose texts have no particular reader, such as notifications, in the language of the host. Other texts
   * are in the language of the request on a page, else in English.
   */
  readonly inHostLanguage: <T>(work: () => T | Promise<T>) => Promise<T>;
  readonly hosts: Hosts;
  /** Addresses of the app's pages, for redirects and links in messages. */
  readonly appPages: AppPages;
}

/** Result of importing another program's data. */
export interface ImportResult {
  /** Settings of the program converted to those of this service, for the settings file. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Sentences for the user: imported and omitted data. */
  readonly notes: readonly string[];
}

/** Running service. `http`, `upgrade` and `tcp` answer on the first listener of its manifest. */
export interface Service extends AsyncDisposable, ListenerHandler {
  /** Bearer token that clients of the metrics page must send; undefined or empty for none. */
  readonly metricsToken?: string;
  /** Handlers of the further listeners, by name. */
  readonly listeners?: Readonly<Record<string, ListenerHandler>>;
  /** Handlers of the service's routes in the app API; the control listener serves them. */
  readonly api?: readonly ApiHandler[];
  /**
   * Data for `homeport config export` in addition to the settings, such as destinations. Secrets are sealed unless `secrets`
   * is set.
   */
  readonly portable?: {
    export(options: { readonly secrets: boolean }): Promise<unknown>;
    /**
     * Replaces the existing data.
     * @throws Problem with `fields` when the data are invalid.
     */
    import(data: unknown): Promise<void>;
  };
  /**
   * Imports the data of another program, such as `ntfy`, from a folder or file while the service is stopped. With
   * `dryRun` it only reports the changes, where supported.
   * @throws Problem for an unknown program or an unreadable folder.
   */
  readonly importData?: (
    program: string,
    folder: string,
    options?: { readonly dryRun?: boolean | undefined },
  ) => Promise<ImportResult>;
  /** Data stored by account name; used when an account is removed. */
  readonly accountData?: AccountData;
  /**
   * Returns the latest events for the Home page, newest first. Events that are also messages in the inbox are left
   * out, because Home lists those as well.
   */
  readonly recentActivity?: (query: RecentActivityQuery) => Promise<readonly RecentEvent[]>;
  /** Starts the service. Timers, sockets and child processes are started here, not in `create`. */
  start(): Promise<void>;
  health(): Promise<Health>;
  /**
   * Writes the files that cannot be copied while the service runs, named `excludedFromCopy` in its manifest, into an
   * empty folder. Called by backups while the service runs.
   */
  readonly backup?: ((folder: string) => Promise<void>) | undefined;
  /** Restores the files of `backup`, before `start`; repeated after an interruption. */
  restore?(folder: string): Promise<void>;
  /**
   * Work in addition to requests that a restart for changed settings waits for. `begin` holds back new long work, such as
   * the next item of a queue, until disposal; `running` returns the number of running items.
   */
  readonly drain?: { begin(): Disposable; running(): number } | undefined;
  /**
   * Applies new settings that differ only in fields marked `.meta({ live: true })`, without closing anything. Without
   * it, when it throws, and for all other fields, the host disposes and creates the service again.
   */
  readonly reconfigure?: ((settings: unknown) => Promise<void>) | undefined;
}

/** Step of a service's database schema. Steps run once, in order, each in a transaction; never edit a released one. */
export interface Migration {
  /** Sortable and unique: `001-create-messages`. */
  readonly name: string;
  up(db: Kysely<any>): Promise<void>;
}

/** Program whose data a service can import, for `homeport import <program>` and its help. */
export interface ImportSource {
  /** Name in the command: `ntfy`. */
  readonly program: string;
  /** Argument of the command: `FOLDER` or `FILE`. */
  readonly from: 'FOLDER' | 'FILE';
  /** Description of the command in the help. */
  readonly help: Text;
  /** Supports `--dry-run`. */
  readonly dryRun?: true;
}

/**
 * Capability of a service beyond its own scope. `controlHost`: its context contains the host's controls, it cannot be
 * disabled, and it runs in safe mode; reserved for the control service. `desktop`: shows native notifications and
 * opens pages. `dispatch`: passes requests to other services within the process and opens listeners for other
 * computers, as a gateway does.
 */
export type Capability = 'controlHost' | 'desktop' | 'dispatch';

/** Disabled account for programs that use the service, created in advance. */
export interface PresetAccount {
  readonly name: string;
  /** Stored in the language of the host when the account is created. */
  readonly description: Text;
  /** Grants on the service itself. */
  readonly grants: readonly Pick<Grant, 'resource' | 'permission'>[];
}

/** Resource for which accounts can get grants, as the pages offer it. */
export const Grantable = z.object({
  service: z.string().describe('Service name used in grants; usually the ID of the service.'),
  title: z.string().describe('Description of the resources that grant patterns match, such as `Message topics`.'),
  example: z.string().describe('Example pattern, such as `*-*-backup`.'),
});
export type Grantable = z.infer<typeof Grantable>;

/** Resource of a manifest for which accounts can get grants. */
export type GrantableResource = Omit<Grantable, 'title'> & { readonly title: Text };

/** Group of a service in the navigation. */
export const ServiceGroup = z.enum(['media', 'alerts', 'data', 'system']);
export type ServiceGroup = z.infer<typeof ServiceGroup>;

/** Location of the keys that a service generated, for replacing unreadable ones. */
export interface StoredKeys {
  /** Table of the keys, and the column with their names; default `name`. */
  readonly table?: string;
  readonly column?: string;
  /** Row names where they differ from the key's name. */
  readonly rows?: Readonly<Record<string, string>>;
  /** Key files in the service's folder, including files that depend on the key. */
  readonly files?: Readonly<Record<string, readonly string[]>>;
}

/** Parts of a service's context that exist before its code is loaded. */
export interface UnloadedService<Settings = any> extends Pick<Context, 'children' | 'db' | 'engines' | 'files'> {
  readonly settings: Settings;
}

/**
 * Lets the host load the code of an unused service with its first request instead of at the start. Until then the host
 * opens its listeners and its database and reports its health. Requests wait for the service, none is lost. The routes
 * of such a service in the app API begin with `/api/<id>`, and it neither receives handovers nor serves feeds nor
 * accepts WebSocket connections, since those cannot load it. Its metrics are absent until it is loaded.
 */
export interface LoadOnDemand<Settings = any> {
  /**
   * Returns whether the service is loaded at the start: it has data, schedules or something to report. The host loads it
   * anyway when it has stored keys, jobs, a restored backup or data of removed accounts to process, and when its tables
   * are in PostgreSQL, where other hosts can change them.
   */
  isUsed(service: UnloadedService<Settings>): Promise<boolean>;
  /** Health of the unused service until it is loaded. */
  readonly health: Health;
}

/** Settings of a service that are shown below a heading. */
export interface SettingGroup {
  readonly heading: Text;
  readonly settings: readonly string[];
}

/** Description of a service that is available without loading or running it. */
export interface ServiceManifest<Schema extends z.ZodObject = z.ZodObject> {
  /** Lower case; also the name of the folder and the database schema. */
  readonly id: string;
  readonly title: Text;
  /** Purpose as one sentence. */
  readonly summary: Text;
  /** Benefit for the members of a household, to whom the gateway lists the service; the summary by default. */
  readonly sharedSummary?: Text;
  /** Group in the navigation; `system`: a part of the app that is not listed with the services. */
  readonly group?: ServiceGroup;
  /**
   * Listeners; the first is the main one, with the port setting `port` and `HOMEPORT_PORT_<ID>`. A further listener
   * named `ssh` has `sshPort` and `HOMEPORT_PORT_<ID>_SSH`.
   */
  readonly listeners?: readonly ListenerManifest<z.infer<Schema>>[];
  readonly capabilities?: readonly Capability[];
  /** Time limit for stopping, if longer than the setting `stopTimeout`. */
  readonly stopMs?: number;
  /** By default the service is loaded at the start. */
  readonly loadOnDemand?: LoadOnDemand<z.infer<Schema>>;
  /** Start phase: `boot` (default), or `first`, before the other services, to receive all of their events. */
  readonly startsOn?: 'first' | 'boot';
  /**
   * Settings schema. Every field has a `label`, a `help` text and a default, and `live` when a change takes effect
   * immediately: the settings form and docs/configuration.md are generated from it.
   */
  readonly settings: Schema;
  /** Environment name -> settings field, e.g. `MAX_CONCURRENT_DOWNLOADS: 'maxConcurrent'`. */
  readonly environment: Readonly<Record<string, string>>;
  /** The five to eight most important settings in display order; the others are collapsed. By default all are shown. */
  readonly mainSettings?: readonly string[];
  /** Settings with a heading; settings without one come first. */
  readonly settingGroups?: readonly SettingGroup[];
  /** Settings of the service that belong to the group `host`, with the page that shows them. */
  readonly hostSettings?: {
    readonly schema: z.ZodObject;
    readonly environment: Readonly<Record<string, string>>;
    readonly area: string;
  };
  readonly migrations: readonly Migration[];
  readonly keys?: StoredKeys;
  /** Names in the service's folder that `backup` saves instead of the generic copy. */
  readonly excludedFromCopy?: readonly string[];
  /** Folders of the service's blobs, with `/`, such as `attachments`. */
  readonly blobs?: readonly string[];
  /** Files that earlier versions stored elsewhere in the data folder: former path -> name in the service's folder. */
  readonly formerFiles?: Readonly<Record<string, string>>;
  /**
   * Required external programs; the Engines page, the settings of their paths and the command line are generated from
   * them.
   */
  readonly engines?: readonly EngineSpec[];
  /** Live topics for pages, with their audience. */
  readonly live?: readonly LiveTopic<any>[];
  /**
   * Counter that Home charts, limited to samples with these labels if given, and the text of its total: `11 messages in
   * 24 hours`. By default the requests to its listeners.
   */
  readonly pulse?: {
    readonly counter: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly total: (values: { readonly count: number }) => string;
  };
  /** Service accounts that the first start of an installation creates, disabled. */
  readonly accounts?: readonly PresetAccount[];
  /** Resources for which accounts can get grants. */
  readonly grantable?: readonly GrantableResource[];
  /** Programs whose data `importData` supports. */
  readonly importSources?: readonly ImportSource[];
}

/** Service as the host registers it: its manifest and its factory. */
export interface ServiceDescriptor<Settings = any, ServiceContext extends Context = Context> extends ServiceManifest {
  /** Returns a promise when the service's code is loaded on demand. */
  create(context: ServiceContext, settings: Settings): Service | Promise<Service>;
}

/** Service whose code is loaded. */
export interface LoadedService<Settings = any, ContextType extends Context = Context> extends ServiceManifest {
  create(context: ContextType, settings: Settings): Service;
}

/** Defines a manifest and preserves the type of its settings schema. */
export function defineManifest<Schema extends z.ZodObject>(manifest: ServiceManifest<Schema>): ServiceManifest<Schema> {
  return manifest;
}

/** Defines a service and infers the type of its settings from the schema. */
export function defineService<Schema extends z.ZodObject, ContextType extends Context = Context>(
  service: ServiceManifest<Schema> & Pick<LoadedService<z.infer<Schema>, ContextType>, 'create'>,
): LoadedService<z.infer<Schema>, ContextType> {
  return service;
}
