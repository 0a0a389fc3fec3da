import type { Kysely } from 'kysely';
import type { Tables } from '../store/tables.ts';

/** Removes assignments, watches and requests of a deleted account. Its content is retained. */
export async function removeFromIssues(transaction: Kysely<Tables>, account: string): Promise<void> {
  const tables = [
    'issue_assignees',
    'issue_mentions',
    'issue_watches',
    'review_requests',
    'issue_notifications',
    'stopwatches',
  ] as const;
  for (const table of tables) await transaction.deleteFrom(table).where('account', '=', account).execute();
}
