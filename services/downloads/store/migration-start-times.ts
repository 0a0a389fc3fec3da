import type { Migration } from '../../contracts/service.ts';

/** When a stream that is announced is to begin. */
export const startTimes: Migration = {
  name: '022-start-times',
  async up(db) {
    await db.schema.alterTable('downloads').addColumn('starts_at', 'bigint').execute();
  },
};
