import { EvaluationFailed, LimitedProcesses, LimitExceeded } from '../../kit/limited-process.ts';
import { getThreadFile } from '../../kit/limited-thread.ts';
import { systemTimer } from '../../kit/system-timer.ts';
import { CheckFailure, createSettingsFailure, createTargetFailure } from './failure.ts';

const timeoutMs = 2000;
const memoryMb = 128;

/** Request to the process that evaluates queries. */
export interface JsonQuery {
  readonly text: string;
  /** JSONata expression; empty for the entire text. */
  readonly path: string;
  readonly operator: string;
  readonly expected: string;
}

export type JsonQueryAnswer =
  { readonly found: false } | { readonly found: true; readonly holds: boolean; readonly value: string };

/** The checked server and the author of the expression can both cause a long or memory-intensive evaluation. */
const processes = new LimitedProcesses(getThreadFile('json-query-process', import.meta.url), {
  clock: systemTimer,
  memoryMb,
  timeoutMs,
  maxProcesses: 2,
  maxWaiting: 400,
});

/**
 * Compares the result of a JSONata expression on a JSON text with a value.
 * @throws CheckFailure when the expression fails, finds nothing, or takes too long or too much memory.
 */
export async function evaluateJsonQuery(
  query: JsonQuery,
): Promise<{ readonly holds: boolean; readonly value: string }> {
  const answer = await runQuery(query);
  if (!answer.found) throw createTargetFailure('json_query_empty', {});
  return answer;
}

async function runQuery(query: JsonQuery): Promise<JsonQueryAnswer> {
  try {
    return await processes.run<JsonQueryAnswer>(query);
  } catch (error) {
    if (error instanceof EvaluationFailed) throw new CheckFailure(`Error evaluating JSON query: ${error.message}`);
    if (!(error instanceof LimitExceeded)) throw error;
    throw createLimitFailure(error.limit);
  }
}

function createLimitFailure(limit: LimitExceeded['limit']): CheckFailure {
  if (limit === 'memory') return createSettingsFailure('json_query_memory', { limit: memoryMb });
  return createSettingsFailure(`json_query_${limit}`, {});
}
