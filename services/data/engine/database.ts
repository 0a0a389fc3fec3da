import { join } from 'node:path';
import type pg from 'pg';
import type { Text } from '../../contracts/text.ts';
import type { Context } from '../../contracts/service.ts';
import { runOutsideRequests } from '../../kit/language.ts';
import { Secrets } from '../store/secrets.ts';
import { getDirectPort, type Settings } from '../settings.ts';
import { createUnavailableError, isConnectionError } from './connection-errors.ts';
import { createEmbeddedServer, createExternalServer, type Server, type RunningServer } from './server.ts';
import type { SchemaStep } from './schema-steps.ts';

/**
 * Role of the statements of a request, and the settings of their transaction that describe the caller
 * (`request.jwt.claims`, …).
 */
export interface RequestRole {
  readonly role: string;
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Access to PostgreSQL. Each call starts the server when it is stopped and keeps it running until the call resolves. An
 * idle server is stopped after a while.
 *
 * @throws Problem `data.database_away` (503) while the server is unavailable.
 */
export interface Database extends AsyncDisposable {
  /**
   * Runs `work` with connections for the system catalog: the role of the table owner, with only `pg_catalog` on the
   * search path. No pool connects as a superuser, so that user-defined code never runs with superuser rights.
   */
  withCatalogue<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T>;
  /** Cancels the statement that a server process is running. */
  cancel(process: number): Promise<void>;
  /** Runs `work` with connections of the role that owns the tables of projects. */
  asOwner<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T>;
  /**
   * Runs `work` with separate connections of that role, for statements entered by users. These may run for hours and
   * must not delay sign-ins.
   */
  withStatementPool<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T>;
  /** Runs `work` in one transaction with the role and settings of a request, as row policies expect them. */
  asRequest<T>(request: RequestRole, work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /**
   * Runs `work` with connections that can switch to the roles of requests and have no other rights, for callers that
   * control the transaction themselves.
   */
  withRequestPool<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T>;
  /**
   * Registers a listener for notifications on the channels of this service. It receives undefined when notifications
   * may have been missed.
   */
  onNotification(listener: (channel: string | undefined) => void): void;
  /** Registers a listener that runs before an idle server is stopped. The server is stopped even if it fails. */
  onIdle(listener: () => Promise<void>): void;
  readonly state: 'asleep' | 'waking' | 'up';
  /** Stops the server; the next call starts it again. */
  stop(): Promise<void>;
  /** Stops the server and delays all callers until `work` is done, for access to its files. */
  whileStopped(work: () => Promise<void>): Promise<void>;
  /** Limitations of an external server, as sentences for the user; empty while the server is stopped. */
  readonly limits: readonly Text[];
  /** Folder of the cluster; undefined for an external server. */
  readonly folder: string | undefined;
}

/** Minimum time between a failed start and the next one. */
const restartDelayMs = 1000;

export interface DatabaseOptions {
  readonly context: Context;
  readonly settings: Pick<Settings, 'databaseUrl' | 'sleepAfterMinutes' | 'schemas' | 'directPort' | 'directPassword'>;
  /** Schema steps that run before anything else, in this order. */
  readonly steps: readonly SchemaStep[];
}

/** Creates the database access without connecting. */
export function createDatabase({ context, settings, steps }: DatabaseOptions): Database {
  const secrets = new Secrets(context);
  const password = (): Promise<string> => secrets.getOrCreate('postgres', () => context.random.text(40));
  const folder = settings.databaseUrl === '' ? join(context.files, 'cluster') : undefined;
  const server =
    folder === undefined
      ? createExternalServer({ context, url: settings.databaseUrl, password, steps, schemas: settings.schemas })
      : createEmbeddedServer({
          context,
          folder,
          password,
          steps,
          direct: { port: getDirectPort(settings), password: settings.directPassword },
        });
  return new OnDemandDatabase(context, server, settings, folder);
}

class OnDemandDatabase implements Database {
  readonly #context: Context;
  readonly #server: Server;
  readonly #settings: Pick<Settings, 'sleepAfterMinutes' | 'directPort' | 'directPassword'>;
  readonly folder: string | undefined;
  readonly #listeners: ((channel: string | undefined) => void)[] = [];
  readonly #idleListeners: (() => Promise<void>)[] = [];
  #startup: Promise<RunningServer> | undefined;
  #running: RunningServer | undefined;
  #lastFailure: { readonly error: unknown; readonly failedAt: number } | undefined;
  #activeCalls = 0;
  #idleTimer: Disposable | undefined;
  #shutdown: Promise<void> = Promise.resolve();
  #isDisposed = false;

  constructor(
    context: Context,
    server: Server,
    settings: Pick<Settings, 'sleepAfterMinutes' | 'directPort' | 'directPassword'>,
    folder: string | undefined,
  ) {
    this.folder = folder;
    this.#context = context;
    this.#server = server;
    this.#settings = settings;
  }

  get state(): 'asleep' | 'waking' | 'up' {
    return this.#running !== undefined ? 'up' : this.#startup === undefined ? 'asleep' : 'waking';
  }

  get limits(): readonly Text[] {
    return this.#running?.limits ?? [];
  }

  withCatalogue<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
    return this.#run(({ catalogue }) => work(catalogue));
  }

  cancel(process: number): Promise<void> {
    return this.#run((running) => running.cancel(process));
  }

  asOwner<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
    return this.#run(({ owner }) => work(owner));
  }

  withStatementPool<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
    return this.#run(({ statements }) => work(statements));
  }

  asRequest<T>({ role, settings }: RequestRole, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#run(({ requests }) =>
      inTransaction(requests, async (client) => {
        await client.query('reset all');
        const settingEntries = Object.entries({ ...settings, role });
        const calls = settingEntries.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`);
        await client.query(`select ${calls.join(', ')}`, settingEntries.flat());
        return work(client);
      }),
    );
  }

  withRequestPool<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
    return this.#run(({ requests }) => work(requests));
  }

  onNotification(listener: (channel: string | undefined) => void): void {
    this.#listeners.push(listener);
  }

  onIdle(listener: () => Promise<void>): void {
    this.#idleListeners.push(listener);
  }

  async stop(): Promise<void> {
    const startup = this.#startup;
    this.#idleTimer?.[Symbol.dispose]();
    this.#idleTimer = undefined;
    if (startup === undefined) return this.#shutdown;
    this.#startup = undefined;
    this.#running = undefined;
    const end = async (): Promise<void> => {
      const running = await startup.catch(() => undefined);
      await running?.[Symbol.asyncDispose]();
    };
    this.#shutdown = end();
    await this.#shutdown;
  }

  async whileStopped(work: () => Promise<void>): Promise<void> {
    await this.stop();
    // A concurrent call may have started it again.
    while (this.#startup !== undefined) await this.stop();
    const done = this.#shutdown.then(work);
    this.#shutdown = done.catch(() => undefined);
    await done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.stop();
  }

  async #run<T>(work: (running: RunningServer) => Promise<T>): Promise<T> {
    this.#activeCalls += 1;
    this.#idleTimer?.[Symbol.dispose]();
    this.#idleTimer = undefined;
    try {
      return await work(this.#running ?? (await this.#ensureRunning()));
    } catch (error) {
      throw isConnectionError(error) ? createUnavailableError(error) : error;
    } finally {
      this.#activeCalls -= 1;
      if (this.#activeCalls === 0) this.#stopWhenIdle();
    }
  }

  async #ensureRunning(): Promise<RunningServer> {
    if (this.#isDisposed) throw createUnavailableError(new Error('the service is stopping'));
    if (this.#startup !== undefined) return this.#startup;
    const { clock } = this.#context;
    if (this.#lastFailure !== undefined && clock.now() - this.#lastFailure.failedAt < restartDelayMs)
      throw this.#lastFailure.error;
    // All callers share this start and its failure, so it has nothing of the request of the first one.
    const startup = runOutsideRequests(() => this.#start());
    this.#startup = startup;
    startup.then(
      (running) => {
        if (this.#startup !== startup) return;
        this.#lastFailure = undefined;
        this.#running = running;
        void running.ended.then(() => this.#handleExit(startup, running));
      },
      (error: unknown) => {
        this.#context.log.error('postgresql start failed', { error });
        this.#lastFailure = { error, failedAt: clock.now() };
        if (this.#startup === startup) this.#startup = undefined;
      },
    );
    return startup;
  }

  async #start(): Promise<RunningServer> {
    // Two servers must never use the same cluster.
    await this.#shutdown;
    const running = await this.#server.start((channel) => this.#notify(channel));
    this.#notify(undefined);
    return running;
  }

  /** Handles an unexpected end of the server; the next call starts it again. */
  #handleExit(startup: Promise<RunningServer>, running: RunningServer): void {
    if (this.#startup !== startup) return;
    this.#context.log.warn('postgresql exited unexpectedly');
    this.#startup = undefined;
    this.#running = undefined;
    const end = async (): Promise<void> => running[Symbol.asyncDispose]();
    this.#shutdown = end();
  }

  #notify(channel: string | undefined): void {
    for (const listener of this.#listeners) listener(channel);
  }

  #stopWhenIdle(): void {
    const { sleepAfterMinutes } = this.#settings;
    // Direct connections of other programs are not counted here.
    if (sleepAfterMinutes === 0 || getDirectPort(this.#settings) > 0 || this.#isDisposed || this.#startup === undefined)
      return;
    this.#idleTimer ??= this.#context.clock.after(sleepAfterMinutes * 60_000, () => {
      this.#idleTimer = undefined;
      if (this.#activeCalls === 0) void this.#stopIdle();
    });
  }

  async #stopIdle(): Promise<void> {
    await Promise.allSettled(this.#idleListeners.map((listener) => listener()));
    // A request may have arrived in the meantime.
    if (this.#activeCalls === 0) await this.stop();
  }
}

/** Runs `work` in a transaction, which is committed when `work` resolves and rolled back when it throws. */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let releaseError: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => (releaseError = failure));
    throw error;
  } finally {
    client.release(releaseError);
  }
}
