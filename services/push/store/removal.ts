import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely';

interface Tables {
  messages: { seq: number; id: string; topic: string; time: number; expires: number; inbox: string | null };
}
type Row = ExpressionBuilder<Tables, 'messages'>;

/** When a message expires that nobody reads here any more, or never could: it only waits for the inbox. */
export const hidden = 0;

/**
 * Removes messages before they expire. Those of the inbox are hidden from all others at once; like those that have expired
 * they go when the inbox has them.
 */
export async function removeNow(
  transaction: Kysely<any>,
  which: (row: Row) => Expression<SqlBool>,
): Promise<readonly { readonly seq: number; readonly id: string }[]> {
  const messages = transaction as Kysely<Tables>;
  const kept = await messages
    .updateTable('messages')
    .set({ expires: hidden })
    .where(which)
    .where('inbox', 'is not', null)
    .where('expires', '>', hidden)
    .returning(['seq', 'id'])
    .execute();
  const removed = await messages
    .deleteFrom('messages')
    .where(which)
    .where('inbox', 'is', null)
    .returning(['seq', 'id'])
    .execute();
  return [...kept, ...removed];
}

/** Longer than this nothing is kept for an inbox that does not come for it. Seconds. */
const longestHold = 24 * 3600;

/** Whether the inbox, which has `taken` messages up to a number, does not need one any more. `now` in unix seconds. */
export function isTaken(row: Row, taken: number, now: number): Expression<SqlBool> {
  return row.or([row('inbox', 'is', null), row('seq', '<=', taken), row('time', '<=', now - longestHold)]);
}
