import * as m from '#messages/host-problems';
import {
  Kysely,
  PostgresDialect,
  PostgresDriver,
  PostgresQueryCompiler,
  sql,
  type DataTypeNode,
  type DatabaseConnection,
} from 'kysely';
import pg from 'pg';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { withDatabaseErrors, watchConnection } from './faults.ts';
import { createBoundedClient } from './bounded-client.ts';
import { lockForHost } from './hosts-lock.ts';
import type { Engine } from './sqlite.ts';

/**
 * Time after which the server ends a transaction that waits for its host. A host that hangs must not keep its locks,
 * or other hosts could not take over its work.
 */
const maxIdleTransactionMs = 6000;

/**
 * Seconds without data after which the server probes the connection, and the interval of further probes. Otherwise it
 * would keep the locks of a computer that lost its power for hours.
 */
const keepAlive = { idle: 15, interval: 5 } as const;

/** Address of a database, and its schema. */
export interface PostgresLocation {
  readonly url: string;
  readonly schema: string;
  /** The caller moves the database, and has the exclusive lock that excludes hosts. */
  readonly isMove?: boolean;
  /** Limits for work that must notice a failure in time. */
  readonly limits?: ConnectionLimits;
}

/** Limits of the connections to a database. */
export interface ConnectionLimits {
  readonly connections: number;
  /** Time after which the server ends a statement. */
  readonly statementMs: number;
  /** Time after which a connection that does not respond is replaced. */
  readonly responseMs: number;
}

/**
 * Connects to the server and creates the schema if it is missing; statements see only that schema.
 * @throws Problem `database.moving` (503) while a move uses the database
 */
export async function openPostgres(location: PostgresLocation, log: Log): Promise<Engine> {
  const { schema } = location;
  if (!/^[a-z][a-z0-9_-]{0,62}$/.test(schema) || schema.startsWith('pg_') || schema === 'information_schema') {
    throw new Error(`"${schema}" cannot be the name of a schema`);
  }
  const kysely = connectToSchema(location, log);
  const lock = async (transaction: Kysely<any>): Promise<void> => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`homeport ${schema}`}, 0))`.execute(transaction);
  };
  try {
    await kysely.transaction().execute(async (transaction) => {
      // `create schema if not exists` can fail when two processes run it concurrently.
      await lock(transaction);
      await transaction.schema.createSchema(schema).ifNotExists().execute();
    });
  } catch (error) {
    await kysely.destroy();
    throw error;
  }
  return {
    kysely,
    transactions: {
      transact: (work, durable) =>
        kysely.transaction().execute(async (transaction) => {
          if (!durable) await sql`set local synchronous_commit = off`.execute(transaction);
          return work(transaction);
        }),
    },
    lock,
    async backup() {
      const detail = m.postgresBackup;
      throw new Problem('database.backup_elsewhere', 501, detail, { retryable: false });
    },
    close: () => kysely.destroy(),
  };
}

/** Returns connections to an existing schema, which are opened when they are needed. */
export function connectToSchema(location: PostgresLocation, log: Log): Kysely<any> {
  return new Kysely<any>({ dialect: new Dialect(createPool(location, log)) });
}

function createPool(location: PostgresLocation, log: Log): pg.Pool {
  const { url, schema, limits } = location;
  const pool = new pg.Pool({
    connectionString: url,
    application_name: `homeport ${schema}`,
    max: limits?.connections ?? 4,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: limits?.responseMs ?? 10_000,
    keepAlive: true,
    types: { getTypeParser: typeParser as typeof pg.types.getTypeParser },
    ...(limits === undefined ? {} : { Client: createBoundedClient(limits.responseMs) }),
    // A connection that could not be prepared is closed, and the query that needed it fails.
    verify: (client, done) => void prepareConnection(client, location).then(() => done(), done),
  });
  // Without a listener, a lost connection would end the process, even for a connection in use between two queries,
  // for which the pool emits no event. The next query reconnects.
  pool.on('connect', (client) =>
    client.on('error', (error) => log.warn('database connection lost', { schema, error })),
  );
  pool.on('error', () => log.debug('database connection removed from pool', { schema }));
  return pool;
}

/** Sets up a new connection. */
async function prepareConnection(
  client: pg.ClientBase,
  { schema, limits, isMove = false }: PostgresLocation,
): Promise<void> {
  await client.query(
    `select set_config('search_path', '"${schema}"', false),
      set_config('idle_in_transaction_session_timeout', '${String(maxIdleTransactionMs)}', false),
      set_config('tcp_keepalives_idle', '${String(keepAlive.idle)}', false),
      set_config('tcp_keepalives_interval', '${String(keepAlive.interval)}', false)`,
  );
  if (limits !== undefined) await client.query(`set statement_timeout = ${String(limits.statementMs)}`);
  if (!isMove) await lockForHost(client);
}

// pg returns int8 (counts and times in ms) and numeric (sums) as text; the stores keep both below 2^53.
const toNumber = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

function typeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (toNumber.has(oid)) return Number;
  const parser: unknown = format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid);
  return parser as (value: string) => unknown;
}

class Dialect extends PostgresDialect {
  readonly #pool: pg.Pool;
  constructor(pool: pg.Pool) {
    super({ pool });
    this.#pool = pool;
  }
  override createDriver(): Driver {
    return new Driver({ pool: this.#pool });
  }
  override createQueryCompiler(): Compiler {
    return new Compiler();
  }
}

class Driver extends PostgresDriver {
  override async acquireConnection(): Promise<DatabaseConnection> {
    return watchConnection(await withDatabaseErrors(() => super.acquireConnection()));
  }
}

/** PostgreSQL types for SQLite's column types, in which the migrations are written. */
const columnTypes: Readonly<Record<string, DataTypeNode['dataType']>> = {
  integer: 'bigint',
  real: 'double precision',
  blob: 'bytea',
};

class Compiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    this.append(columnTypes[node.dataType] ?? node.dataType);
  }
  protected override getAutoIncrement(): string {
    return 'generated by default as identity';
  }
}
