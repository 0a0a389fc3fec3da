import type { IncomingMessage } from 'node:http';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { AppPages } from './app-pages.ts';
import type { AccountData } from './control/account-data.ts';
import type { Accounts, Credentials, Grant } from './control/accounts.ts';
import type { ApiHandler } from './api.ts';
import type { Bus, Handovers } from './bus.ts';
import type { Feeds } from './feeds.ts';
import type { Children } from './children.ts';
import type { Hosts } from './hosts.ts';
import type { Health } from './health.ts';
import type { ListenerHandler, ListenerManifest } from './listeners.ts';
import type { Metrics } from './metrics.ts';
import type { Connect, Fetch, FetchStream } from './outgoing.ts';
import type { EngineSpec } from './control/engine-spec.ts';
import type { Engines } from './control/engines.ts';
import type { LiveTopic } from './control/live.ts';
import type { Jobs } from './jobs.ts';

/** Structured log: a short fixed sentence and fields. Fields whose name speaks of a secret are redacted. */
export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** Time comes in through here, so that tests can turn the clock. */
export interface Clock {
  /** ms since the epoch. */
  now(): number;
  /** Calls once after `ms`; the disposal cancels. Does not keep the process alive. */
  after(ms: number, call: () => void): Disposable;
  /** Calls every `ms` until disposed. */
  every(ms: number, call: () => void): Disposable;
}

/** Randomness comes in through here. Cryptographically strong. */
export interface Random {
  bytes(length: number): Uint8Array;
  /** `length` characters of A-Z a-z 0-9. */
  text(length: number): string;
}

/** Secrets at rest. */
export interface Vault {
  /** Text in, `v1.…` out. The same text gives another seal each time. `purpose` is bound to it: opening needs the same one. */
  seal(text: string, purpose: string): string;
  /** @throws Problem `vault.unreadable` (500) when it was sealed under another key or purpose, or was changed. */
  open(sealed: string, purpose: string): string;
  /** 64 hexadecimal digits: the same text gives the same ones under one purpose here, and they tell nothing of it. */
  fingerprint(text: string, purpose: string): string;
}

/** Where a request comes from, as `Accounts.authenticate` wants to know it; with who sent it where a gateway has proven that. */
export type Caller = Required<Pick<Credentials, 'remoteAddress' | 'isCrossSite'>> &
  Pick<Credentials, 'gatewayIdentity'>;

/** What the host gives a service. Nothing here is global, and two services share only what the contracts name. */
export interface Context {
  /** This service's own tables: an SQLite file, or a PostgreSQL schema of its id. */
  readonly db: Kysely<any>;
  /**
   * The same tables, to be read only and beside the event loop: for what looks at many rows, such as lists, searches, counts
   * and exports. It sees all that was committed before. One statement brings 32 MiB at most, and there are no transactions.
   * What a GET of our own API reads is given up when its client goes away. On PostgreSQL it is `db`.
   */
  readonly reads: Kysely<any>;
  /**
   * Joins the next group commit: the work of all callers waiting at that moment runs in one transaction with one
   * sync; resolves when the disk has it, while a read on `db` may see it a moment before. Work must only touch
   * `transaction`, since it is run once more, alone, when another caller's work fails.
   */
  readonly commit: <T>(work: (transaction: Kysely<any>) => Promise<T>) => Promise<T>;
  /** No other host works with these tables, so what was read stays true until this one writes. */
  readonly singleHost: boolean;
  /** Absolute path of this service's own folder; it exists. */
  readonly files: string;
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
   * Base address of a service's listener as a local client would use it (`http://127.0.0.1:2586`), undefined while it has
   * none; without a name that of its main one.
   */
  readonly address: (serviceId: string, listener?: string) => string | undefined;
  /**
   * Those of all listeners of all services that are open now, of the ports that a gateway opened for other machines, and of
   * programs that answer beside us: where outgoing requests that others cause must not lead.
   */
  readonly addresses: () => readonly string[];
  /** Where a request to this service's listener comes from; behind a trusted proxy, where that got it from. */
  readonly caller: (request: IncomingMessage) => Caller;
  /**
   * Resolves to true for a request that another program on this computer sent directly to this service's listener.
   * Requests that Homeport itself or a program started by it sent are none, nor is anything that came by a gateway.
   */
  readonly isLocalProgram: (request: IncomingMessage) => Promise<boolean>;
  /**
   * Where clients reach this service, without a slash at the end: as they wrote it in this request, a trusted proxy's word
   * included (`https://push.example.org`); without a request as a local client would.
   */
  readonly publicUrl: (request?: IncomingMessage) => string | undefined;
  readonly hosts: Hosts;
  /** Where clients reach the pages of the app, which a service redirects people to and which its messages link. */
  readonly appPages: AppPages;
}

/** What came of taking over another program's data. */
export interface ImportResult {
  /** This service's settings as that program had them, for the settings file. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Sentences for the person: what was taken over and what stays behind. */
  readonly notes: readonly string[];
}

/** `http`, `upgrade` and `tcp` answer on the first listener of its manifest. */
export interface Service extends AsyncDisposable, ListenerHandler {
  /** Who reads its metrics page must send this as a Bearer token; without one, or empty, the page is open. */
  readonly metricsToken?: string;
  /** What answers on the further listeners, by name. */
  readonly listeners?: Readonly<Record<string, ListenerHandler>>;
  /** The service's part of our own API; the control listener answers it. */
  readonly api?: readonly ApiHandler[];
  /** What `homeport config export` holds of this service besides its settings, such as destinations. Secrets sealed unless `secrets`. */
  readonly portable?: {
    export(options: { readonly secrets: boolean }): Promise<unknown>;
    /** Replaces what is there. @throws Problem with `fields` when the data do not fit. */
    import(data: unknown): Promise<void>;
  };
  /**
   * Takes over what another program, such as `ntfy`, left in a folder or has in a file; the service is not running then.
   * With `dryRun` it only says what it would do, where it can. @throws Problem for a program or a folder it cannot read.
   */
  readonly importData?: (
    program: string,
    folder: string,
    options?: { readonly dryRun?: boolean | undefined },
  ) => Promise<ImportResult>;
  /** Data that the service stores by account name; the host calls it when an account is removed. */
  readonly accountData?: AccountData;
  /** Timers, sockets and child processes begin here, not in `create`. */
  start(): Promise<void>;
  health(): Promise<Health>;
  /**
   * Writes into an empty folder what of this service cannot be copied while it runs: what its manifest names as
   * `uncopied`. Called while it runs, by the backups that the host makes.
   */
  backup?(folder: string): Promise<void>;
  /** Puts back what `backup` wrote, before `start`; repeated where it was cut off. */
  restore?(folder: string): Promise<void>;
  /**
   * For a service whose work is not only that of requests: what a restart for a changed setting waits for. `begin` keeps new
   * long work waiting, such as the next of a queue, until it is disposed; `running` counts what still runs.
   */
  readonly drain?: { begin(): Disposable; running(): number };
  /**
   * Takes new settings of which only such fields differ as the schema says to be live (`.meta({ live: true })`): nothing that is
   * open is closed for them. Without it, when it throws, and for all other fields, the host disposes and creates again.
   */
  reconfigure?(settings: unknown): Promise<void>;
}

/** A step of a service's own schema. Steps run once, in order, each in a transaction; never edit one that was released. */
export interface Migration {
  /** Sortable and unique: `001-create-messages`. */
  readonly name: string;
  up(db: Kysely<any>): Promise<void>;
}

/** A program whose data a service takes over: `homeport import <program>`, of which the help is made too. */
export interface ImportSource {
  /** As it is typed: `ntfy`. */
  readonly program: string;
  /** What follows it: `FOLDER` or `FILE`. */
  readonly from: 'FOLDER' | 'FILE';
  /** What comes along, as the help says it after "take over". */
  readonly what: string;
  /** It can say what it would do without doing it: `--dry-run`. */
  readonly dryRun?: true;
}

/**
 * What a service may do beyond its own affairs. `controlHost`: its context holds the host's controls, it cannot be switched
 * off, and it runs in safe mode; the control service alone. `desktop`: it shows native notifications and opens pages. `dispatch`: it
 * hands requests to other services in the process and listens for other machines, as a gateway does.
 */
export type Capability = 'controlHost' | 'desktop' | 'dispatch';

/** An account for programs that use the service, waiting to be switched on. */
export interface PresetAccount {
  readonly name: string;
  readonly description: string;
  /** On the service itself. */
  readonly grants: readonly Pick<Grant, 'resource' | 'permission'>[];
}

/** Something that accounts may be granted, as the pages offer it. */
export const Grantable = z.object({
  service: z.string().describe('As grants name it; mostly the id of the service.'),
  title: z.string().describe('What the patterns of such grants stand for: `Message topics`.'),
  example: z.string().describe('A pattern: `*-*-backup`.'),
});
export type Grantable = z.infer<typeof Grantable>;

/** Where a service stands among the others. */
export const ServiceGroup = z.enum(['media', 'alerts', 'data', 'system']);
export type ServiceGroup = z.infer<typeof ServiceGroup>;

/** Where a service stores the keys that it made itself, for the action that replaces one that cannot be read any more. */
export interface StoredKeys {
  /** The table, and the column that names them; `name` without. */
  readonly table?: string;
  readonly column?: string;
  /** How rows are named where that is not the key's own name. */
  readonly rows?: Readonly<Record<string, string>>;
  /** Files in the service's folder that are a key, or that only it can open. */
  readonly files?: Readonly<Record<string, readonly string[]>>;
}

/** What the host must know of a service before it runs it, and of one that it does not run. */
export interface ServiceManifest<Schema extends z.ZodObject = z.ZodObject> {
  /** Lower case, also the folder's and the schema's name. */
  readonly id: string;
  readonly title: string;
  /** One sentence: what it is for. */
  readonly summary: string;
  /** With which other services people find it; `system`: a part of the app that nobody looks for among them. */
  readonly group?: ServiceGroup;
  /**
   * Its listeners; the first is the main one, whose port is the setting `port` and `HOMEPORT_PORT_<ID>`. That of a further
   * one named `ssh` is `sshPort` and `HOMEPORT_PORT_<ID>_SSH`.
   */
  readonly listeners?: readonly ListenerManifest<z.infer<Schema>>[];
  readonly capabilities?: readonly Capability[];
  /** How long it may take to stop, where it needs more than the setting `stopTimeout` gives. */
  readonly stopMs?: number;
  /**
   * When it starts: with the host (`boot`, the default), or `first`, before the others, since it must not miss what they
   * tell.
   */
  readonly startsOn?: 'first' | 'boot';
  /** Every field has a title, a description and a default, and `live` where a change takes effect at once: the settings form and docs/configuration.md are made from it. */
  readonly settings: Schema;
  /** Environment name -> settings field, e.g. `MAX_CONCURRENT_DOWNLOADS: 'maxConcurrent'`. */
  readonly environment: Readonly<Record<string, string>>;
  /** The five to eight settings that most people look for, in the order in which they are shown; the others are folded behind them. Without, all are shown. */
  readonly mainSettings?: readonly string[];
  /** Headings under which settings stand, each with their names; what is under none stands before them. */
  readonly settingGroups?: Readonly<Record<string, readonly string[]>>;
  /** Fields of its own that stand in the group `host`, and the part of the settings' pages that shows them. */
  readonly hostSettings?: {
    readonly schema: z.ZodObject;
    readonly environment: Readonly<Record<string, string>>;
    readonly area: string;
  };
  readonly migrations: readonly Migration[];
  readonly keys?: StoredKeys;
  /** Names in the service's own folder that its `backup` saves in place of a copy of them. */
  readonly excludedFromCopy?: readonly string[];
  /** Files that earlier versions kept elsewhere in the data folder: former path -> name in the service's own folder. */
  readonly formerFiles?: Readonly<Record<string, string>>;
  /** The outside programs that it needs; the Engines page, the settings of their paths and the command line are made of them. */
  readonly engines?: readonly EngineSpec[];
  /** The topics that pages hear of as it happens, and who does. */
  readonly live?: readonly LiveTopic<any>[];
  /**
   * The counter whose growth Home draws, of the samples with these labels alone where there are any, and what it counts:
   * `messages`. Without one, the requests to its listeners.
   */
  readonly pulse?: {
    readonly counter: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly what: string;
  };
  /** Service accounts that are made at the first start of an installation, switched off. */
  readonly accounts?: readonly PresetAccount[];
  /** What of it an account may be granted. */
  readonly grantable?: readonly Grantable[];
  /** Programs whose data its `takeOver` takes. */
  readonly importSources?: readonly ImportSource[];
}

export interface ServiceDescriptor<Settings = any, ServiceContext extends Context = Context> extends ServiceManifest {
  /** A promise where the service's code is loaded for it. */
  create(context: ServiceContext, settings: Settings): Service | Promise<Service>;
}

/** A service whose code is loaded. */
export interface LoadedService<Settings = any, ContextType extends Context = Context> extends ServiceManifest {
  create(context: ContextType, settings: Settings): Service;
}

/** Lets TypeScript keep the schema's type for the service that is made of it. */
export function defineManifest<Schema extends z.ZodObject>(manifest: ServiceManifest<Schema>): ServiceManifest<Schema> {
  return manifest;
}

/** Lets TypeScript infer the settings' type from the schema. */
export function defineService<Schema extends z.ZodObject, ContextType extends Context = Context>(
  service: ServiceManifest<Schema> & Pick<LoadedService<z.infer<Schema>, ContextType>, 'create'>,
): LoadedService<z.infer<Schema>, ContextType> {
  return service;
}
