import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely';

interface Tables {
  messages: { seq: number; id: string; topic: string; time: number; expires: number; inbox: string | null };
}
type Row = ExpressionBuilder<Tables, 'messages'>;

/** Expiry of messages that clients can no longer read and that only the inbox still has to read. */
export const hidden = 0;

/** Deletes messages before they expire. Those that the inbox has not read yet are hidden and deleted after it has. */
export async function removeNow(
  transaction: Kysely<any>,
  where: (row: Row) => Expression<SqlBool>,
): Promise<readonly { readonly seq: number; readonly id: string }[]> {
  const messages = transaction as Kysely<Tables>;
  const hiddenRows = await messages
    .updateTable('messages')
    .set({ expires: hidden })
    .where(where)
    .where('inbox', 'is not', null)
    .where('expires', '>', hidden)
    .returning(['seq', 'id'])
    .execute();
  const removed = await messages
    .deleteFrom('messages')
    .where(where)
    .where('inbox', 'is', null)
    .returning(['seq', 'id'])
    .execute();
  return [...hiddenRows, ...removed];
}

/** Seconds after which a message is deleted even when the inbox has not read it. */
const maxInboxHoldSeconds = 24 * 3600;

/** Matches messages that the inbox, which has read up to `inboxCursor`, no longer needs. `now` is in unix seconds. */
export function isReadByInbox(row: Row, inboxCursor: number, now: number): Expression<SqlBool> {
  return row.or([
    row('inbox', 'is', null),
    row('seq', '<=', inboxCursor),
    row('time', '<=', now - maxInboxHoldSeconds),
  ]);
}
