import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

/** Column for the options of a key. */
export const keyOptions: Migration = {
  name: '004-add-key-options',
  async up(db: Kysely<any>) {
    await db.schema
      .alterTable('configurations')
      .addColumn('options', 'text', (column) => column.notNull().defaultTo('{}'))
      .execute();
  },
};
