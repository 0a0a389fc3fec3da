import pg from 'pg';
import type { Database } from '../engine/database.ts';
import { PreparedStatements, PipelinedQuery, type Statement } from '../engine/pipelined-query.ts';
import { RestError } from './errors.ts';
import type { RequestIdentity, Role } from './identity.ts';
import { largestBody } from './statement/wrap.ts';

/** The row that {@link wrap} makes. */
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
  /** What functions and policies may read of the request. */
  readonly settings: Readonly<Record<string, string>>;
  readonly isReadOnly: boolean;
  /** A function that is called first, quoted with its schema. */
  readonly before?: string | undefined;
  readonly statement: string;
  readonly values: readonly string[];
  /** Gets all rows, where the statement answers more than the one of {@link Result}. */
  readonly rows?: (rows: readonly object[]) => void;
  /** `rollback`: nothing of it stays. `judge`: it stays when the judge says so; it may throw. */
  readonly end: 'commit' | 'rollback' | { readonly judge: (result: Result) => 'commit' | 'rollback' };
}

/** Of a statement, ms; 0: none. */
export const timeouts: Readonly<Record<Role, number>> = { anon: 3000, authenticated: 8000, service_role: 0 };
/** Everything comes as PostgreSQL writes it. */
const asText = { getTypeParser: () => (text: string) => text };

/** Runs a statement: in a transaction of its own, or as a part of one. */
export type Run = (transaction: Transaction) => Promise<Result>;

/** How many rows PostgreSQL expects of a statement. */
export async function plannedRows(run: Run, transaction: Omit<Transaction, 'end'>): Promise<number> {
  const statement = `EXPLAIN (FORMAT JSON) ${transaction.statement}`;
  const row: object = await run({ ...transaction, statement, end: 'rollback' });
  const [text] = Object.values(row) as readonly string[];
  const [{ Plan: plan }] = JSON.parse(text ?? '') as [{ Plan: { 'Plan Rows': number } }];
  return plan['Plan Rows'];
}

/** Runs statements as the roles of requests, each in a transaction of its own and in one round trip. */
export function createRun(database: Database): Run {
  const prepared = new PreparedStatements();
  database.onNotification(() => prepared.invalidate());
  return (transaction) =>
    database.withRequestPool(async (pool) => {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        // Where nobody tells of changes of the schema, nothing that depends on it is kept.
        // A function that is called first may change the role, and statements are prepared for one role.
        const isKept = database.limits.length === 0 && transaction.before === undefined;
        return await runOn(client, transaction, isKept ? prepared : undefined);
      } catch (error) {
        // A connection whose state nobody knows is not used again.
        await client.query('rollback').catch((failure: unknown) => {
          broken = failure instanceof Error ? failure : new Error(String(failure));
        });
        throw error;
      } finally {
        client.release(broken);
      }
    });
}

async function runOn(
  client: pg.PoolClient,
  transaction: Transaction,
  prepared: PreparedStatements | undefined,
): Promise<Result> {
  const { identity, settings, isReadOnly, before, statement, values, rows, end } = transaction;
  const statements = [
    // What is sent together is one transaction by itself; whoever decides at its end needs one that goes on.
    ...(end === 'commit' ? [] : [{ text: 'begin', values: [] }]),
    // A function of an earlier request may have set something for as long as the connection lives.
    { text: 'reset all', values: [] },
    settingsStatement(identity, { ...settings, ...(isReadOnly ? { transaction_read_only: 'on' } : {}) }),
    ...(before === undefined ? [] : [{ text: `select ${before}()`, values: [] }]),
    { text: statement, values },
  ];
  const trip = client.query(new PipelinedQuery(statements, identity.role, prepared));
  try {
    const main = await trip.result;
    rows?.(main);
    const row = resultOf(main);
    if (end !== 'commit') await client.query(end === 'rollback' ? end : end.judge(row));
    return row;
  } catch (error) {
    if (trip.hasBegun || prepared === undefined) throw error;
    const isLost = isOneOf(error, codesOfLost);
    if (!isLost && !(trip.reusesStatement && isOneOf(error, codesOfTypes))) throw error;
    if (isLost) prepared.invalidate();
    // A column may have another type since the statement was prepared; nothing of it has run yet.
    if (end !== 'commit') await client.query('rollback');
    const row = await runOn(client, transaction, undefined);
    prepared.invalidate();
    return row;
  }
}

/** What a statement that was prepared before a change of the schema can fail at. */
const codesOfTypes = /^(?:0A000|22P02|22003|22007|22008|42804|42883|42846|42P18)$/;
/** No such prepared statement: somebody's function has thrown all of them away. */
const codesOfLost = /^26000$/;

function isOneOf(error: unknown, codes: RegExp): boolean {
  return error instanceof pg.DatabaseError && codes.test(error.code ?? '');
}

/** Sets who a transaction is and what it may read of the request. */
export function settingsStatement(
  identity: RequestIdentity,
  settings: Transaction['settings'],
  timeout = timeouts[identity.role],
): Statement {
  const all = Object.entries({
    ...settings,
    'request.jwt.claims': JSON.stringify(identity.claims),
    statement_timeout: `${timeout}ms`,
    role: identity.role,
  });
  const calls = all.map((_, at) => `set_config($${2 * at + 1}, $${2 * at + 2}, true)`);
  return { text: `select ${calls.join(', ')}`, values: all.flat() };
}

export function statementQuery(text: string, values: readonly string[]): pg.QueryConfig {
  return { text, values: [...values], types: asText };
}

export function resultOf(rows: readonly object[]): Result {
  const [row] = rows as readonly Result[];
  if (row === undefined) throw new Error('the statement answered nothing');
  if ((row.body as unknown) === null) {
    throw new RestError(413, '54000', 'The answer is too large', {
      details: `It has more than ${largestBody / 1024 / 1024} MiB; what was to be written is written.`,
      hint: 'Ask for fewer rows or columns at once.',
    });
  }
  return row;
}
