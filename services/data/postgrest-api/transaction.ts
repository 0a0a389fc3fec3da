import pg from 'pg';
import type { Database } from '../engine/database.ts';
import { PreparedStatements, PipelinedQuery, type Statement } from '../engine/pipelined-query.ts';
import { RestError } from './errors.ts';
import type { RequestIdentity, Role } from './identity.ts';
import { maxResponseBytes } from './statement/wrap.ts';

/** Row of the statement that {@link wrap} builds. */
export interface Result {
  readonly total: string | null;
  readonly page: string;
  readonly body: string;
  readonly headers: string | null;
  readonly status: string | null;
  readonly inserted?: string;
}

export interface Transaction {
  readonly identity: RequestIdentity;
  /** Settings of the transaction, which functions and policies can read. */
  readonly settings: Readonly<Record<string, string>>;
  readonly isReadOnly: boolean;
  /** A function that is called first, quoted with its schema. */
  readonly before?: string | undefined;
  readonly statement: string;
  readonly values: readonly string[];
  /** Receives all rows, for statements that return more than one {@link Result}. */
  readonly rows?: (rows: readonly object[]) => void;
  /** `rollback` discards all changes. A `decide` function decides, and may throw. */
  readonly end: 'commit' | 'rollback' | { readonly decide: (result: Result) => 'commit' | 'rollback' };
}

/** Time limits of statements, ms; 0 disables the limit. */
export const statementTimeoutsMs: Readonly<Record<Role, number>> = { anon: 3000, authenticated: 8000, service_role: 0 };
/** Returns all values in the text format of PostgreSQL. */
const asText = { getTypeParser: () => (text: string) => text };

/** Runs a statement, in its own transaction or within a batch. */
export type Run = (transaction: Transaction) => Promise<Result>;

/** Returns the number of rows that the planner of PostgreSQL estimates. */
export async function estimateRows(run: Run, transaction: Omit<Transaction, 'end'>): Promise<number> {
  const statement = `EXPLAIN (FORMAT JSON) ${transaction.statement}`;
  const row: object = await run({ ...transaction, statement, end: 'rollback' });
  const [text] = Object.values(row) as readonly string[];
  const [{ Plan: plan }] = JSON.parse(text ?? '') as [{ Plan: { 'Plan Rows': number } }];
  return plan['Plan Rows'];
}

/**
 * Creates a runner that runs each statement with the role of its request, in its own transaction and in one round trip.
 */
export function createRun(database: Database): Run {
  const prepared = new PreparedStatements();
  database.onNotification(() => prepared.invalidate());
  return (transaction) =>
    database.withRequestPool(async (pool) => {
      const client = await pool.connect();
      let releaseError: Error | undefined;
      try {
        // Prepared statements are not reused when schema changes are not reported, or when a function called first may
        // change the role: statements are prepared for one role.
        const canReuse = database.limits.length === 0 && transaction.before === undefined;
        return await runTransaction(client, transaction, canReuse ? prepared : undefined);
      } catch (error) {
        // A connection in an unknown state is not reused.
        await client.query('rollback').catch((failure: unknown) => {
          releaseError = failure instanceof Error ? failure : new Error(String(failure));
        });
        throw error;
      } finally {
        client.release(releaseError);
      }
    });
}

async function runTransaction(
  client: pg.PoolClient,
  transaction: Transaction,
  prepared: PreparedStatements | undefined,
): Promise<Result> {
  const { identity, settings, isReadOnly, before, statement, values, rows, end } = transaction;
  const statements = [
    // Statements sent together form one transaction. When the end is decided later, an explicit one is needed.
    ...(end === 'commit' ? [] : [{ text: 'begin', values: [] }]),
    // A function of an earlier request may have changed session settings of the connection.
    { text: 'reset all', values: [] },
    buildSettingsStatement(identity, { ...settings, ...(isReadOnly ? { transaction_read_only: 'on' } : {}) }),
    ...(before === undefined ? [] : [{ text: `select ${before}()`, values: [] }]),
    { text: statement, values },
  ];
  const query = client.query(new PipelinedQuery(statements, identity.role, prepared));
  try {
    const resultRows = await query.result;
    rows?.(resultRows);
    const row = getResult(resultRows);
    if (end !== 'commit') await client.query(end === 'rollback' ? end : end.decide(row));
    return row;
  } catch (error) {
    if (query.hasBegun || prepared === undefined) throw error;
    const isMissing = hasSqlState(error, missingStatementCode);
    if (!isMissing && !(query.reusesStatement && hasSqlState(error, outdatedStatementCodes))) throw error;
    if (isMissing) prepared.invalidate();
    // The type of a column may have changed since the statement was prepared; no part of the statement has run yet.
    if (end !== 'commit') await client.query('rollback');
    const row = await runTransaction(client, transaction, undefined);
    prepared.invalidate();
    return row;
  }
}

/** SQLSTATE codes of prepared statements that are outdated after a schema change. */
const outdatedStatementCodes = /^(?:0A000|22P02|22003|22007|22008|42804|42883|42846|42P18)$/;
/** SQLSTATE of a missing prepared statement: a function of a user has run DEALLOCATE or DISCARD. */
const missingStatementCode = /^26000$/;

function hasSqlState(error: unknown, codes: RegExp): boolean {
  return error instanceof pg.DatabaseError && codes.test(error.code ?? '');
}

/** Builds the statement that sets the role, the claims and the request settings of a transaction. */
export function buildSettingsStatement(
  identity: RequestIdentity,
  settings: Transaction['settings'],
  timeoutMs = statementTimeoutsMs[identity.role],
): Statement {
  const settingEntries = Object.entries({
    ...settings,
    'request.jwt.claims': JSON.stringify(identity.claims),
    statement_timeout: `${timeoutMs}ms`,
    role: identity.role,
  });
  const calls = settingEntries.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`);
  return { text: `select ${calls.join(', ')}`, values: settingEntries.flat() };
}

export function toQueryConfig(text: string, values: readonly string[]): pg.QueryConfig {
  return { text, values: [...values], types: asText };
}

export function getResult(rows: readonly object[]): Result {
  const [row] = rows as readonly Result[];
  if (row === undefined) throw new Error('the statement returned no row');
  if ((row.body as unknown) === null) {
    throw new RestError(413, '54000', 'The response is too large', {
      details: `The response exceeds ${maxResponseBytes / 1024 / 1024} MiB. Changes made by the request have been saved.`,
      hint: 'Request fewer rows or columns.',
    });
  }
  return row;
}
