import type { Migration } from '../../contracts/service.ts';

/** Adds the column for the start time of upcoming streams. */
export const startTimes: Migration = {
  name: '022-start-times',
  async up(db) {
    await db.schema.alterTable('downloads').addColumn('starts_at', 'bigint').execute();
  },
};
