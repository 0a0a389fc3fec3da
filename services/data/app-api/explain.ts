import * as m from '#messages/data-problems';
import pg from 'pg';
import type { DataRole } from '../../contracts/data/api.ts';
import type { DataExplanation } from '../../contracts/data/sql.ts';
import type { Database } from '../engine/database.ts';
import { Cancellation, queryCanceled } from './cancellation.ts';
import { toPlan } from './plan-tree.ts';
import { buildSettings } from './query-runner.ts';

/** Function of PostgreSQL that rejects several statements where one is expected; their SQLSTATE is that of all syntax errors. */
const severalStatementsRoutine = 'exec_parse_message';

interface ExplainRequest {
  readonly query: string;
  readonly role: DataRole;
  readonly user: string;
  /** Runs the statement and measures each step; its changes are rolled back. */
  readonly analyze: boolean;
}

/** Returns the plan of one statement, or its error. */
export async function explainQuery(
  database: Database,
  { query, role, user, analyze }: ExplainRequest,
  cancellation = new Cancellation(database),
): Promise<DataExplanation> {
  const start = performance.now();
  const getDurationMs = (): number => Math.round((performance.now() - start) * 10) / 10;
  const prefix = `explain (format json, verbose, analyze ${analyze ? 'on' : 'off'}) `;
  const explain = async (pool: pg.Pool, settings: Readonly<Record<string, string>>): Promise<unknown> => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      for (const [name, value] of Object.entries(settings))
        await client.query('select set_config($1, $2, true)', [name, value]);
      // The extended protocol accepts a single statement, so that nothing after it runs without EXPLAIN.
      const statement: pg.QueryConfig & { queryMode: 'extended' } = { text: prefix + query, queryMode: 'extended' };
      const { rows } = await cancellation.wrap(client, () => client.query<{ 'QUERY PLAN': unknown }>(statement));
      return rows[0]?.['QUERY PLAN'];
    } finally {
      await client.query('rollback').catch(() => undefined);
      // The statement may have changed any session state.
      client.release(true);
    }
  };
  try {
    const running =
      role === 'owner'
        ? database.withStatementPool((pool) => explain(pool, {}))
        : database.withRequestPool((pool) => explain(pool, buildSettings(role, user)));
    const plan = toPlan(await cancellation.unlessRequested(running));
    return { ms: getDurationMs(), wasCancelled: false, plan, error: null };
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const { code = '', detail = null } = error;
    const isSeveral = error.routine === severalStatementsRoutine;
    const position = error.position === undefined ? null : Number(error.position) - prefix.length;
    return {
      ms: getDurationMs(),
      wasCancelled: code === queryCanceled && cancellation.isRequested,
      plan: null,
      error: {
        message: isSeveral ? m.explainOneStatement() : error.message,
        code,
        detail,
        hint: error.hint ?? null,
        position: position !== null && position > 0 ? position : null,
      },
    };
  }
}
