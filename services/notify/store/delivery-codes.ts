import { sql, type Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

/** Column for the code of a delivery's last failure; empty for none. Existing failures get their code from the text. */
export const deliveryCodes: Migration = {
  name: '022-add-delivery-codes',
  async up(db: Kysely<any>) {
    await db.schema
      .alterTable('deliveries')
      .addColumn('code', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
    await sql`update deliveries set code = 'needs_engine'
      where state = 'waiting' and detail like '%It needs the Apprise engine: install it%'`.execute(db);
    await sql`update deliveries set code = 'unknown_host'
      where state = 'waiting' and detail like '%could not be asked: there is no host of this name.%'`.execute(db);
  },
};
