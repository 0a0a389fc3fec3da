import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import type { NotifyTables } from './tables.ts';

/** Column for the confirmed steps of a delivery with several requests, as JSON; empty for none. */
export const deliveryProgress: Migration = {
  name: '012-add-delivery-progress',
  async up(db: Kysely<any>) {
    await db.schema
      .alterTable('deliveries')
      .addColumn('progress', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  },
};

/** Updates the progress of a delivery. */
export async function updateProgress(
  transaction: Kysely<NotifyTables>,
  notificationId: string,
  destinationId: string,
  progress: string,
): Promise<void> {
  await transaction
    .updateTable('deliveries')
    .set({ progress })
    .where('notice_id', '=', notificationId)
    .where('destination_id', '=', destinationId)
    .execute();
}
