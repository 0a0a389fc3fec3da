import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { isStarting } from './connection-errors.ts';
import { startCluster, superuser, type RunningCluster } from './cluster.ts';
import { eventTriggers, externalOwnerRole, frameSteps, ownerRole, ownerSteps } from './base-schema.ts';
import { approachOf } from './limited-user.ts';
import { takeSteps, type SchemaStep } from './schema-steps.ts';

/** A server that answers, and connections to it. Disposal ends what of it is ours. */
export interface Running extends AsyncDisposable {
  readonly catalogue: pg.Pool;
  readonly owner: pg.Pool;
  readonly statements: pg.Pool;
  readonly requests: pg.Pool;
  cancel(process: number): Promise<void>;
  /** What the server does not let us do, as sentences for a person. */
  readonly limits: readonly string[];
  /** Resolves when it is gone. */
  readonly ended: Promise<void>;
}

export interface Server {
  /** `notice` gets the channel of each notification, undefined when some may have been missed. */
  start(notice: (channel: string | undefined) => void): Promise<Running>;
}

interface ServerParts {
  readonly context: Context;
  /** Of the roles that we make. */
  readonly password: () => Promise<string>;
  readonly steps: readonly SchemaStep[];
}

const channels = ['homeport_schema', 'pgrst'];
const connectMs = 15_000;
const requestRole = 'authenticator';

/**
 * Names without a schema mean objects of PostgreSQL itself in a superuser's statements: a function that somebody made
 * in `public` must not run with a superuser's rights. Parameters that the address brings along stay as they are.
 */
function trusted(config: pg.ClientConfig): pg.ClientConfig {
  return withOptions(config, '-c search_path=pg_catalog');
}

/** Tables and functions of extensions are found without naming their schema, as in Supabase. */
const findsExtensions = '-c search_path="$user",public,extensions';

function withOptions(config: pg.ClientConfig, options: string): pg.ClientConfig {
  const { connectionString } = config;
  if (connectionString === undefined) return { ...config, options };
  const address = new URL(connectionString);
  address.searchParams.set('options', [address.searchParams.get('options') ?? '', options].join(' ').trim());
  return { ...config, connectionString: address.href };
}

/**
 * The way in for programs such as psql: a port of this computer and the password of the role that owns people's
 * tables.
 */
export interface DirectAccess {
  /** 0: none. */
  readonly port: number;
  readonly password: string;
}

/** A PostgreSQL of our own, with its files in this folder. */
export function ownServer({
  context,
  folder,
  password,
  steps,
  direct,
}: ServerParts & { readonly folder: string; readonly direct: DirectAccess }): Server {
  return {
    async start(notice) {
      const secret = await password();
      const cluster = await startCluster(context, folder, secret, direct.port);
      try {
        const base = baseOf(cluster);
        const asOwner = {
          ...base,
          user: ownerRole,
          ...(base.password !== undefined && direct.port > 0 ? { password: direct.password } : {}),
        };
        await prepare(
          context,
          trusted({ ...base, user: superuser }),
          () => [...steps, ...ownerSteps(ownerRole)],
          async (client) => {
            const isOpen = direct.port > 0;
            // Without a port nobody else reaches the server, and an earlier password opens nothing.
            const ours = cluster.password === undefined ? null : secret;
            await setPassword(client, requestRole, ours);
            await setPassword(client, ownerRole, isOpen ? direct.password : ours);
          },
        );
        const pools = {
          catalogue: poolOf(context, { ...trusted(asOwner), max: 6 }),
          owner: poolOf(context, { ...withOptions(asOwner, findsExtensions), max: 4 }),
          statements: poolOf(context, { ...withOptions(asOwner, findsExtensions), max: 4 }),
          requests: poolOf(context, { ...withOptions({ ...base, user: requestRole }, findsExtensions), max: 16 }),
        };
        const listener = await listen(context, trusted({ ...base, user: superuser }), notice);
        return {
          ...pools,
          cancel: (process) => cancel(listener, process),
          limits: [],
          ended: cluster.child.exited.then(() => undefined),
          async [Symbol.asyncDispose]() {
            await closeAll(pools, listener);
            await cluster.child.stop();
          },
        };
      } catch (error) {
        await cluster.child.stop();
        throw error;
      }
    },
  };
}

/** The person's own PostgreSQL, 14 or newer. */
export function externalServer({
  context,
  url,
  password,
  steps,
  schemas,
}: ServerParts & { readonly url: string; readonly schemas: readonly string[] }): Server {
  return {
    async start(notice) {
      const admin: pg.ClientConfig = { connectionString: url };
      const secret = await password();
      const as = (role: string): pg.ClientConfig => ({ connectionString: addressOf(url, role, secret) });
      let limits: readonly string[] = [];
      let isLimited = false;
      const frame = new Set(frameSteps);
      await prepare(
        context,
        trusted(admin),
        async (client) => {
          const approach = await approachOf(client);
          limits = approach.limits;
          isLimited = approach.steps !== undefined;
          return approach.steps === undefined
            ? [...steps, ...ownerSteps(externalOwnerRole, schemas)]
            : [...approach.steps, ...steps.filter((step) => !frame.has(step))];
        },
        async (client) => {
          if (isLimited) return;
          // A database that was filled from a dump may have come without them.
          await client.query(eventTriggers);
          await setPassword(client, requestRole, secret);
          await setPassword(client, externalOwnerRole, secret);
        },
      );
      // A superuser of the address prepares the database and is not used for anything else: statements run as a role
      // without its rights. Without the right to make roles, all of them run as the user of the address.
      const owner = isLimited ? admin : as(externalOwnerRole);
      const pools = {
        catalogue: poolOf(context, { ...trusted(owner), max: 6 }),
        owner: poolOf(context, { ...withOptions(owner, findsExtensions), max: 4 }),
        statements: poolOf(context, { ...withOptions(owner, findsExtensions), max: 4 }),
        requests: poolOf(context, { ...withOptions(isLimited ? admin : as(requestRole), findsExtensions), max: 16 }),
      };
      const ended = Promise.withResolvers<void>();
      const listener = await listen(context, trusted(admin), notice);
      // Without it changes of the schema would pass unseen: all is opened anew.
      listener.once('end', ended.resolve);
      return {
        ...pools,
        cancel: (process) => cancel(listener, process),
        limits,
        ended: ended.promise,
        [Symbol.asyncDispose]: () => closeAll(pools, listener),
      };
    },
  };
}

function baseOf({ host, port, password }: RunningCluster): pg.PoolConfig {
  return { host, port, database: 'postgres', ...(password === undefined ? {} : { password }) };
}

async function prepare(
  { log, clock }: Pick<Context, 'log' | 'clock'>,
  config: pg.ClientConfig,
  stepsFor: (client: pg.Client) => readonly SchemaStep[] | Promise<readonly SchemaStep[]>,
  more: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = await connect(config, clock);
  client.on('error', (error) => log.warn('a connection of PostgreSQL broke', { error }));
  try {
    await takeSteps(client, await stepsFor(client));
    await more(client);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem('data.not_prepared', 503, `The database could not be prepared: ${reason}.`, { cause: error });
  } finally {
    await client.end();
  }
}

/** A server that recovers from a crash takes connections a moment after it is there. */
async function connect(config: pg.ClientConfig, clock: Context['clock']): Promise<pg.Client> {
  const deadline = clock.now() + connectMs;
  for (;;) {
    const client = new pg.Client({ ...config, connectionTimeoutMillis: connectMs });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (config.connectionString !== undefined || !isStarting(error) || clock.now() > deadline) throw error;
      await new Promise<void>((resolve) => clock.after(50, resolve));
    }
  }
}

function poolOf({ log }: Pick<Context, 'log'>, config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ ...config, connectionTimeoutMillis: connectMs, idleTimeoutMillis: 60_000 });
  // A connection that breaks is taken out of the pool, and who waits for its answer is told; the event itself has no other
  // listener while somebody has the connection, and would end the process.
  const broke = (error: Error): void => log.debug('a connection of PostgreSQL broke', { error });
  pool.on('error', broke);
  pool.on('connect', (client) => client.on('error', broke));
  return pool;
}

async function listen(
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  config: pg.ClientConfig,
  notice: (channel: string | undefined) => void,
): Promise<pg.Client> {
  const client = await connect(config, clock);
  client.on('error', (error) => log.debug('the connection that listens broke', { error }));
  client.on('notification', ({ channel }) => notice(channel));
  for (const channel of channels) await client.query(`listen ${channel}`);
  return client;
}

/** PostgreSQL takes no parameter here. Null: nobody signs in with a password. */
async function setPassword(client: pg.Client, role: string, secret: string | null): Promise<void> {
  const text = secret === null ? 'null' : pg.escapeLiteral(secret);
  await client.query(`alter role ${pg.escapeIdentifier(role)} with password ${text}`);
}

/** The connection that listens is the only one that may cancel statements of every role; it touches no user object. */
async function cancel(listener: pg.Client, process: number): Promise<void> {
  await listener.query('select pg_catalog.pg_cancel_backend($1)', [process]);
}

/** The same address for another user. */
function addressOf(url: string, role: string, secret: string): string {
  const address = new URL(url);
  address.username = role;
  address.password = secret;
  return address.href;
}

async function closeAll(pools: Readonly<Record<string, pg.Pool>>, listener: pg.Client): Promise<void> {
  await Promise.allSettled([listener.end(), ...Object.values(pools).map((pool) => pool.end())]);
}
