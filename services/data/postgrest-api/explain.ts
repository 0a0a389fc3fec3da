import type { RestResponse } from './response.ts';
import type { RequestContext } from './request-context.ts';
import type { Run, Transaction } from './transaction.ts';

/** Returns the plan of a statement. Changes are rolled back, also when the statement runs to be measured. */
export async function createPlanResponse(
  run: Run,
  { media }: RequestContext,
  transaction: Omit<Transaction, 'end'>,
): Promise<RestResponse> {
  const format = media.plan?.format ?? 'text';
  const options = (media.plan?.options ?? []).filter((each) =>
    ['analyze', 'verbose', 'settings', 'buffers', 'wal'].includes(each),
  );
  const all = [...options.map((each) => each.toUpperCase()), `FORMAT ${format.toUpperCase()}`];
  const lines: string[] = [];
  await run({
    ...transaction,
    statement: `EXPLAIN (${all.join(', ')}) ${transaction.statement}`,
    end: 'rollback',
    rows: (rows) => lines.push(...rows.flatMap((row) => Object.values(row) as string[])),
  });
  return {
    status: 200,
    headers: { 'Content-Type': `application/vnd.pgrst.plan+${format}; charset=utf-8` },
    body: lines.join('\n'),
  };
}
