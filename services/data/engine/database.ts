import { join } from 'node:path';
import type pg from 'pg';
import type { Context } from '../../contracts/service.ts';
import { Secrets } from '../store/secrets.ts';
import type { Settings } from '../settings.ts';
import { databaseAway, isAway } from './connection-errors.ts';
import { ownServer, externalServer, type Server, type Running } from './server.ts';
import type { SchemaStep } from './schema-steps.ts';

/** Who a request's statements run as, and the settings of the transaction that say so (`request.jwt.claims`, …). */
export interface RequestRole {
  readonly role: string;
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * PostgreSQL as the rest of this service sees it. Each call wakes the server where it sleeps and keeps it awake until it
 * resolves; when nobody asked for a while it sleeps again.
 *
 * @throws Problem `data.database_away` (503) while there is none.
 */
export interface Database extends AsyncDisposable {
  /**
   * Connections for reading the system catalog: the owner's role, with `pg_catalog` alone on the search path. There
   * are no connections of a superuser here, so that nothing a user defined can ever run with a superuser's rights.
   */
  withCatalogue<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T>;
  /** Cancels what this server process is running. */
  cancel(process: number): Promise<void>;
  /** Connections of the role that owns people's tables. */
  asOwner<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T>;
  /** Others of that role, for statements that somebody typed: they may run for hours, and no sign-in waits for them. */
  withStatementPool<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T>;
  /** One transaction with the role and the settings of a request, as row policies see it. */
  asRequest<T>(request: RequestRole, work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /** Connections that may become the roles of requests and are nothing by themselves: for who makes the transaction itself. */
  withRequestPool<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T>;
  /** Called with a notification on one of our channels, and with undefined when some may have been missed. */
  onNotice(listener: (channel: string | undefined) => void): void;
  readonly state: 'asleep' | 'waking' | 'up';
  /** Ends the server; the next call wakes it. */
  sleep(): Promise<void>;
  /** Ends the server and holds whoever calls until `work` is done: for its files. */
  whileAsleep(work: () => Promise<void>): Promise<void>;
  /** What the server does not let us do, as sentences for a person; empty while it sleeps. */
  readonly limits: readonly string[];
  /** The folder of its files; undefined where they are not ours. */
  readonly folder: string | undefined;
}

/** After a start that failed the next one is tried no sooner, ms. */
const pauseMs = 1000;

export interface DatabaseOptions {
  readonly context: Context;
  readonly settings: Pick<Settings, 'databaseUrl' | 'sleepAfterMinutes' | 'schemas' | 'directPort' | 'directPassword'>;
  /** What is made in the database before anything else, in this order. */
  readonly steps: readonly SchemaStep[];
}

/** Opens nothing yet. */
export function createDatabase({ context, settings, steps }: DatabaseOptions): Database {
  const secrets = new Secrets(context);
  const password = (): Promise<string> => secrets.take('postgres', () => context.random.text(40));
  const folder = settings.databaseUrl === '' ? join(context.files, 'cluster') : undefined;
  const server =
    folder === undefined
      ? externalServer({ context, url: settings.databaseUrl, password, steps, schemas: settings.schemas })
      : ownServer({
          ...{ context, folder, password, steps },
          direct: { port: directPortOf(settings), password: settings.directPassword },
        });
  return new SleepingDatabase(context, server, settings, folder);
}

/** The port for other programs; 0 where there is no password for it. */
export function directPortOf({ directPort, directPassword }: Pick<Settings, 'directPort' | 'directPassword'>): number {
  return directPassword === '' ? 0 : directPort;
}

class SleepingDatabase implements Database {
  readonly #context: Context;
  readonly #server: Server;
  readonly #settings: Pick<Settings, 'sleepAfterMinutes' | 'directPort' | 'directPassword'>;
  readonly folder: string | undefined;
  readonly #listeners: ((channel: string | undefined) => void)[] = [];
  #up: Promise<Running> | undefined;
  #running: Running | undefined;
  #failed: { readonly error: unknown; readonly at: number } | undefined;
  #using = 0;
  #timer: Disposable | undefined;
  #ended: Promise<void> = Promise.resolve();
  #closed = false;

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
    return this.#running !== undefined ? 'up' : this.#up === undefined ? 'asleep' : 'waking';
  }

  get limits(): readonly string[] {
    return this.#running?.limits ?? [];
  }

  withCatalogue<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
    return this.#use(({ catalogue }) => work(catalogue));
  }

  cancel(process: number): Promise<void> {
    return this.#use((running) => running.cancel(process));
  }

  asOwner<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
    return this.#use(({ owner }) => work(owner));
  }

  withStatementPool<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
    return this.#use(({ statements }) => work(statements));
  }

  asRequest<T>({ role, settings }: RequestRole, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#use(({ requests }) =>
      inTransaction(requests, async (client) => {
        await client.query('reset all');
        const all = Object.entries({ ...settings, role });
        const calls = all.map((_, at) => `set_config($${2 * at + 1}, $${2 * at + 2}, true)`);
        await client.query(`select ${calls.join(', ')}`, all.flat());
        return work(client);
      }),
    );
  }

  withRequestPool<T>(work: (pool: pg.Pool) => Promise<T>): Promise<T> {
    return this.#use(({ requests }) => work(requests));
  }

  onNotice(listener: (channel: string | undefined) => void): void {
    this.#listeners.push(listener);
  }

  async sleep(): Promise<void> {
    const up = this.#up;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (up === undefined) return this.#ended;
    this.#up = undefined;
    this.#running = undefined;
    const end = async (): Promise<void> => {
      const running = await up.catch(() => undefined);
      await running?.[Symbol.asyncDispose]();
    };
    this.#ended = end();
    await this.#ended;
  }

  async whileAsleep(work: () => Promise<void>): Promise<void> {
    await this.sleep();
    // Somebody may have woken it meanwhile.
    while (this.#up !== undefined) await this.sleep();
    const done = this.#ended.then(work);
    this.#ended = done.catch(() => undefined);
    await done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.sleep();
  }

  async #use<T>(work: (running: Running) => Promise<T>): Promise<T> {
    this.#using += 1;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    try {
      return await work(this.#running ?? (await this.#wake()));
    } catch (error) {
      throw isAway(error) ? databaseAway(error) : error;
    } finally {
      this.#using -= 1;
      if (this.#using === 0) this.#restLater();
    }
  }

  async #wake(): Promise<Running> {
    if (this.#closed) throw databaseAway(new Error('the service stops'));
    if (this.#up !== undefined) return this.#up;
    const { clock } = this.#context;
    if (this.#failed !== undefined && clock.now() - this.#failed.at < pauseMs) throw this.#failed.error;
    const up = this.#begin();
    this.#up = up;
    up.then(
      (running) => {
        if (this.#up !== up) return;
        this.#failed = undefined;
        this.#running = running;
        void running.ended.then(() => this.#lost(up, running));
      },
      (error: unknown) => {
        this.#context.log.error('PostgreSQL cannot be used', { error });
        this.#failed = { error, at: clock.now() };
        if (this.#up === up) this.#up = undefined;
      },
    );
    return up;
  }

  async #begin(): Promise<Running> {
    // Two servers must never have one cluster.
    await this.#ended;
    const running = await this.#server.start((channel) => this.#tell(channel));
    this.#tell(undefined);
    return running;
  }

  /** It ended though nobody told it to: the next call starts it anew. */
  #lost(up: Promise<Running>, running: Running): void {
    if (this.#up !== up) return;
    this.#context.log.warn('PostgreSQL ended and starts again with the next request');
    this.#up = undefined;
    this.#running = undefined;
    const end = async (): Promise<void> => running[Symbol.asyncDispose]();
    this.#ended = end();
  }

  #tell(channel: string | undefined): void {
    for (const listener of this.#listeners) listener(channel);
  }

  #restLater(): void {
    const { sleepAfterMinutes } = this.#settings;
    // Programs that are connected directly are not seen here.
    if (sleepAfterMinutes === 0 || directPortOf(this.#settings) > 0 || this.#closed || this.#up === undefined) return;
    this.#timer ??= this.#context.clock.after(sleepAfterMinutes * 60_000, () => {
      this.#timer = undefined;
      if (this.#using === 0) void this.sleep();
    });
  }
}

/** Committed when `work` resolves, rolled back when it throws. */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.release(broken);
  }
}
