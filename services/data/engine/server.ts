import * as m from '#messages/data-problems';
import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import type { Text } from '../../contracts/text.ts';
import type { Context } from '../../contracts/service.ts';
import { rebuildOutdatedIndexes } from './collations.ts';
import { isStarting } from './connection-errors.ts';
import { startCluster, superuser, type RunningCluster } from './cluster.ts';
import { eventTriggers, externalOwnerRole, baseSchemaSteps, ownerRole, getOwnerSteps } from './base-schema.ts';
import { planPreparation } from './limited-user.ts';
import { applySteps, type SchemaStep } from './schema-steps.ts';

/** Running server with its connection pools. Disposal closes them and stops an embedded server. */
export interface RunningServer extends AsyncDisposable {
  readonly catalogue: pg.Pool;
  readonly owner: pg.Pool;
  readonly statements: pg.Pool;
  readonly requests: pg.Pool;
  cancel(process: number): Promise<void>;
  /** Limitations, as sentences for the user. */
  readonly limits: readonly Text[];
  /** Resolves when the server exits or its notification connection ends. */
  readonly ended: Promise<void>;
}

export interface Server {
  /**
   * Starts the server. The listener receives the channel of each notification, or undefined when some may have been
   * missed.
   */
  start(onNotification: (channel: string | undefined) => void): Promise<RunningServer>;
}

interface ServerOptions {
  readonly context: Context;
  /** Returns the password of the created roles. */
  readonly password: () => Promise<string>;
  readonly steps: readonly SchemaStep[];
}

const channels = ['homeport_schema', 'pgrst'];
const connectTimeoutMs = 15_000;
const requestRole = 'authenticator';

/**
 * Restricts the search path to `pg_catalog`: a function in `public` must never run with superuser rights through an
 * unqualified name. Options of the address are kept.
 */
function withCatalogSearchPath(config: pg.ClientConfig): pg.ClientConfig {
  return withOptions(config, '-c search_path=pg_catalog');
}

/** Search path that includes extensions, as in Supabase. */
const extensionsSearchPath = '-c search_path="$user",public,extensions';

function withOptions(config: pg.ClientConfig, options: string): pg.ClientConfig {
  const { connectionString } = config;
  if (connectionString === undefined) return { ...config, options };
  const address = new URL(connectionString);
  address.searchParams.set('options', [address.searchParams.get('options') ?? '', options].join(' ').trim());
  return { ...config, connectionString: address.href };
}

/** Access for programs such as psql: a port on this computer and the password of the owner role. */
export interface DirectAccess {
  /** TCP port; 0 disables direct access. */
  readonly port: number;
  readonly password: string;
}

/** Creates the embedded PostgreSQL with its files in the folder. */
export function createEmbeddedServer({
  context,
  folder,
  password,
  steps,
  direct,
}: ServerOptions & { readonly folder: string; readonly direct: DirectAccess }): Server {
  return {
    async start(onNotification) {
      const secret = await password();
      const cluster = await startCluster(context, { folder, password: secret, directPort: direct.port });
      try {
        const base = getConnectionConfig(cluster);
        const ownerConfig = {
          ...base,
          user: ownerRole,
          ...(base.password === undefined || direct.port === 0 ? {} : { password: direct.password }),
        };
        await prepare(
          context,
          withCatalogSearchPath({ ...base, user: superuser }),
          () => [...steps, ...getOwnerSteps(ownerRole)],
          async (client) => {
            await rebuildOutdatedIndexes(client, context.log);
            await setPasswords(client, cluster.password, direct);
          },
        );
        const pools = {
          catalogue: createPool(context, { ...withCatalogSearchPath(ownerConfig), max: 6 }),
          owner: createPool(context, { ...withOptions(ownerConfig, extensionsSearchPath), max: 4 }),
          statements: createPool(context, { ...withOptions(ownerConfig, extensionsSearchPath), max: 4 }),
          requests: createPool(context, {
            ...withOptions({ ...base, user: requestRole }, extensionsSearchPath),
            max: 16,
          }),
        };
        const listener = await listenForNotifications(
          context,
          withCatalogSearchPath({ ...base, user: superuser }),
          onNotification,
        );
        return {
          ...pools,
          cancel: (process) => cancelStatement(listener, process),
          limits: [],
          ended: (cluster.exited ?? waitForEnd(listener)).then(() => undefined),
          async [Symbol.asyncDispose]() {
            await closeAll(pools, listener);
            await cluster.stop();
          },
        };
      } catch (error) {
        await cluster.stop();
        throw error;
      }
    },
  };
}

/** Resolves when a connection ends. */
function waitForEnd(client: pg.Client): Promise<void> {
  return new Promise((resolve) => client.once('end', () => resolve()));
}

/** Creates access to an external PostgreSQL, version 14 or newer. */
export function createExternalServer({
  context,
  url,
  password,
  steps,
  schemas,
}: ServerOptions & { readonly url: string; readonly schemas: readonly string[] }): Server {
  return {
    async start(onNotification) {
      const admin: pg.ClientConfig = { connectionString: url };
      const secret = await password();
      const forRole = (role: string): pg.ClientConfig => ({ connectionString: withCredentials(url, role, secret) });
      let limits: readonly Text[] = [];
      let isLimited = false;
      const baseSteps = new Set(baseSchemaSteps);
      await prepare(
        context,
        withCatalogSearchPath(admin),
        async (client) => {
          const plan = await planPreparation(client);
          limits = plan.limits;
          isLimited = plan.steps !== undefined;
          return plan.steps === undefined
            ? [...steps, ...getOwnerSteps(externalOwnerRole, schemas)]
            : [...plan.steps, ...steps.filter((step) => !baseSteps.has(step))];
        },
        async (client) => {
          if (isLimited) return;
          // A database restored from a dump may lack the event triggers.
          await client.query(eventTriggers);
          await setPassword(client, requestRole, secret);
          await setPassword(client, externalOwnerRole, secret);
        },
      );
      // A superuser of the address only prepares the database. Statements run as a role without superuser rights, or as
      // the user of the address when it may not create roles.
      const owner = isLimited ? admin : forRole(externalOwnerRole);
      const pools = {
        catalogue: createPool(context, { ...withCatalogSearchPath(owner), max: 6 }),
        owner: createPool(context, { ...withOptions(owner, extensionsSearchPath), max: 4 }),
        statements: createPool(context, { ...withOptions(owner, extensionsSearchPath), max: 4 }),
        requests: createPool(context, {
          ...withOptions(isLimited ? admin : forRole(requestRole), extensionsSearchPath),
          max: 16,
        }),
      };
      const ended = Promise.withResolvers<void>();
      const listener = await listenForNotifications(context, withCatalogSearchPath(admin), onNotification);
      // Without this connection schema changes would be missed, so all connections are reopened.
      listener.once('end', ended.resolve);
      return {
        ...pools,
        cancel: (process) => cancelStatement(listener, process),
        limits,
        ended: ended.promise,
        [Symbol.asyncDispose]: () => closeAll(pools, listener),
      };
    },
  };
}

function getConnectionConfig({ host, port, password }: RunningCluster): pg.PoolConfig {
  return { host, port, database: 'postgres', ...(password === undefined ? {} : { password }) };
}

async function prepare(
  { log, clock }: Pick<Context, 'log' | 'clock'>,
  config: pg.ClientConfig,
  stepsFor: (client: pg.Client) => readonly SchemaStep[] | Promise<readonly SchemaStep[]>,
  afterSteps: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = await connect(config, clock);
  client.on('error', (error) => log.warn('postgresql connection lost', { error }));
  try {
    await applySteps(client, await stepsFor(client));
    await afterSteps(client);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem('data.not_prepared', 503, () => m.databaseNotPrepared({ reason }), { cause: error });
  } finally {
    await client.end();
  }
}

/** Connects, and retries while an embedded server recovers from a crash. */
async function connect(config: pg.ClientConfig, clock: Context['clock']): Promise<pg.Client> {
  const deadline = clock.now() + connectTimeoutMs;
  for (;;) {
    const client = new pg.Client({ ...config, connectionTimeoutMillis: connectTimeoutMs });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (config.connectionString !== undefined || !isStarting(error) || clock.now() > deadline) throw error;
      await new Promise<void>((resolve) => clock.after(50, resolve));
    }
  }
}

function createPool({ log }: Pick<Context, 'log'>, config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ ...config, connectionTimeoutMillis: connectTimeoutMs, idleTimeoutMillis: 60_000 });
  // The pool removes broken connections, and waiting queries receive the error. Without a listener the event of a
  // checked-out connection would end the process.
  const logLostConnection = (error: Error): void => log.debug('postgresql connection lost', { error });
  pool.on('error', logLostConnection);
  pool.on('connect', (client) => client.on('error', logLostConnection));
  return pool;
}

async function listenForNotifications(
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  config: pg.ClientConfig,
  onNotification: (channel: string | undefined) => void,
): Promise<pg.Client> {
  const client = await connect(config, clock);
  client.on('error', (error) => log.debug('postgresql notification connection lost', { error }));
  client.on('notification', ({ channel }) => onNotification(channel));
  for (const channel of channels) await client.query(`listen ${channel}`);
  return client;
}

/**
 * Sets the passwords of an embedded server's roles. Without a direct port no other program can connect, so an earlier
 * password is removed.
 */
async function setPasswords(client: pg.Client, password: string | undefined, direct: DirectAccess): Promise<void> {
  await setPassword(client, requestRole, password ?? null);
  await setPassword(client, ownerRole, direct.port > 0 ? direct.password : (password ?? null));
}

/** Sets the password of a role; null disables password sign-in. ALTER ROLE does not accept parameters. */
async function setPassword(client: pg.Client, role: string, secret: string | null): Promise<void> {
  const text = secret === null ? 'null' : pg.escapeLiteral(secret);
  await client.query(`alter role ${pg.escapeIdentifier(role)} with password ${text}`);
}

/**
 * Cancels a statement through the notification connection, the only one that may cancel statements of every role. It
 * never uses objects of users.
 */
async function cancelStatement(listener: pg.Client, process: number): Promise<void> {
  await listener.query('select pg_catalog.pg_cancel_backend($1)', [process]);
}

/** Returns the address with other credentials. */
function withCredentials(url: string, role: string, secret: string): string {
  const address = new URL(url);
  address.username = role;
  address.password = secret;
  return address.href;
}

async function closeAll(pools: Readonly<Record<string, pg.Pool>>, listener: pg.Client): Promise<void> {
  await Promise.allSettled([listener.end(), ...Object.values(pools).map((pool) => pool.end())]);
}
