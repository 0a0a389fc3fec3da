import type { Answer } from './response.ts';
import type { Call } from './request-context.ts';
import type { Run, Transaction } from './transaction.ts';

/** How PostgreSQL would do what is asked for. Nothing of it stays, also where it is done to be measured. */
export async function planAnswer(run: Run, { media }: Call, transaction: Omit<Transaction, 'end'>): Promise<Answer> {
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
