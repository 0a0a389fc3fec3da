import { sql, type Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import type { NotifyTables } from './tables.ts';

/** Columns for delayed, combined and repeated notifications. */
export const deliveryPlans: Migration = {
  name: '006-add-delivery-plans',
  async up(db: Kysely<any>) {
    await db.schema.alterTable('deliveries').addColumn('digest', 'text').execute();
    await db.schema.alterTable('notices').addColumn('fingerprint', 'text').execute();
    await db.schema
      .createIndex('notices_by_fingerprint')
      .on('notices')
      .columns(['fingerprint', 'created_at'])
      .where(sql.ref('fingerprint'), 'is not', null)
      .execute();
  },
};

/** Returns how many rate-limited deliveries to a destination were accepted since a time, including waiting ones. */
export async function countRatedSince(db: Kysely<NotifyTables>, destinationId: string, time: number): Promise<number> {
  const { count } = await db
    .selectFrom('deliveries')
    .select((on) => on.fn.countAll<number | string>().as('count'))
    .where('destination_id', '=', destinationId)
    .where('rated_at', '>=', time)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns when a notification with this fingerprint was last accepted, if after `since`. */
export async function findLastAcceptedAt(
  db: Kysely<NotifyTables>,
  fingerprint: string,
  since: number,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('notices')
    .select('created_at')
    .where('fingerprint', '=', fingerprint)
    .where('created_at', '>', since)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : Number(row.created_at);
}
