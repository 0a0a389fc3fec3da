import pg from 'pg';
import type { DataRole, DataRun } from '../../contracts/data/api.ts';
import type { Database } from '../engine/database.ts';
import { runStatements } from '../sql/statements.ts';
import { Cancellation, queryCanceled } from './cancellation.ts';

/** Maximum number of rows per result. */
const maxResultRows = 1000;
const { builtins } = pg.types;
/** Options of statements whose rows are arrays of values in PostgreSQL's text format. */
const asTextRows = { types: { getTypeParser: () => (text: string) => text }, rowMode: 'array' } as const;

/** Returns the JWT claims of a request of this user. */
export function buildClaims(role: string, user: string): string {
  return JSON.stringify({ role, ...(user === '' ? {} : { sub: user }) });
}

/** Runs entered statements as the owner of the tables, or with the role and claims of a user. */
export async function runQuery(
  database: Database,
  { query, role, user }: { readonly query: string; readonly role: DataRole; readonly user: string },
  cancellation = new Cancellation(database),
): Promise<DataRun> {
  const start = performance.now();
  const getDurationMs = (): number => Math.round((performance.now() - start) * 10) / 10;
  try {
    const running =
      role === 'owner'
        ? database.withStatementPool((pool) => runStatements(pool, query, { ...asTextRows, wrap: cancellation.wrap }))
        : database.withRequestPool((pool) => runAsRole(pool, query, buildSettings(role, user), cancellation));
    const results = await cancellation.unlessRequested(running);
    return { ms: getDurationMs(), wasCancelled: false, results: results.map(toResult), error: null };
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const { message, code = '', detail = null, hint = null } = error;
    const position = error.position === undefined ? null : Number(error.position);
    const wasCancelled = code === queryCanceled && cancellation.isRequested;
    return { ms: getDurationMs(), wasCancelled, results: [], error: { message, code, detail, hint, position } };
  }
}

/** Returns the settings of a transaction that runs with the role and claims of a user. */
export function buildSettings(role: string, user: string): Readonly<Record<string, string>> {
  return { 'request.jwt.claims': buildClaims(role, user), role };
}

async function runAsRole(
  pool: pg.Pool,
  text: string,
  settings: Readonly<Record<string, string>>,
  { wrap }: Cancellation,
): Promise<readonly pg.QueryResult[]> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    for (const [name, value] of Object.entries(settings))
      await client.query('select set_config($1, $2, true)', [name, value]);
    const results: pg.QueryResult | pg.QueryResult[] = await wrap(client, () => client.query({ text, ...asTextRows }));
    await client.query('commit');
    return Array.isArray(results) ? results : [results];
  } finally {
    // The statements may have changed any session state, so requests never get this connection.
    client.release(true);
  }
}

/** Kinds of values by type OID. */
const valueKinds: ReadonlyMap<number, DataRun['results'][number]['kinds'][number]> = new Map([
  ...[builtins.INT2, builtins.INT4, builtins.INT8, builtins.OID].map((oid) => [oid, 'number'] as const),
  ...[builtins.FLOAT4, builtins.FLOAT8, builtins.NUMERIC].map((oid) => [oid, 'number'] as const),
  [builtins.BOOL, 'boolean'],
  ...[builtins.JSON, builtins.JSONB].map((oid) => [oid, 'json'] as const),
]);

function toResult({ command, fields, rows, rowCount }: pg.QueryResult): DataRun['results'][number] {
  const columns = fields.map(({ name }) => name);
  const all = rows as readonly (string | null)[][];
  return {
    command,
    columns,
    kinds: fields.map(({ dataTypeID }) => valueKinds.get(dataTypeID) ?? 'text'),
    rows: all.slice(0, maxResultRows),
    count: rowCount ?? 0,
  };
}
