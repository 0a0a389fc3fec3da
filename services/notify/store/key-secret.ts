import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

/** Column for the signing secret of a key, sealed; null for none. */
export const keySecret: Migration = {
  name: '011-add-key-secret',
  async up(db: Kysely<any>) {
    await db.schema.alterTable('configurations').addColumn('secret', 'text').execute();
  },
};
