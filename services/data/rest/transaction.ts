import type pg from 'pg';
import type { Database } from '../engine/database.ts';
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

/** Runs one statement as the role of a request, in a transaction of its own and in one round trip. */
export function runTransaction(database: Database, transaction: Transaction): Promise<Result> {
  return database.withRequestPool(async (pool) => {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      return await runOn(client, transaction);
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
  { identity, settings, isReadOnly, statement, values, rows, end }: Transaction,
): Promise<Result> {
  const steps: Promise<pg.QueryResult>[] = [
    client.query(isReadOnly ? 'begin read only' : 'begin'),
    client.query(settingsQuery(identity, settings)),
    client.query(statementQuery(statement, values)),
  ];
  if (typeof end === 'string') steps.push(client.query(end));
  const results = await Promise.allSettled(steps);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  const [, , main] = results;
  if (main?.status !== 'fulfilled') throw new Error('the statement was not run');
  rows?.(main.value.rows as readonly object[]);
  const row = resultOf(main.value);
  if (typeof end !== 'string') {
    await client.query(end.judge(row));
  }
  return row;
}

/** Sets who a transaction is and what it may read of the request. */
export function settingsQuery(
  identity: RequestIdentity,
  settings: Transaction['settings'],
  timeout = timeouts[identity.role],
): pg.QueryConfig {
  const all = Object.entries({
    ...settings,
    'request.jwt.claims': JSON.stringify(identity.claims),
    statement_timeout: `${timeout}ms`,
    role: identity.role,
  });
  const calls = all.map((_, at) => `set_config($${2 * at + 1}, $${2 * at + 2}, true)`);
  return { name: `homeport-settings-${all.length}`, text: `select ${calls.join(', ')}`, values: all.flat() };
}

export function statementQuery(text: string, values: readonly string[]): pg.QueryConfig {
  return { text, values: [...values], types: asText };
}

export function resultOf({ rows }: pg.QueryResult): Result {
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
