import { sql, type Kysely } from 'kysely';
import { isPostgres } from '../../kit/dialect.ts';

/**
 * Lets transactions that look for an equal download before they add one wait for each other, also on other hosts. Other
 * databases have one writer at a time.
 */
export async function lockForAdd(transaction: Kysely<any>): Promise<void> {
  if (isPostgres(transaction))
    await sql`select pg_advisory_xact_lock(hashtext(current_schema() || '.add'))`.execute(transaction);
}
