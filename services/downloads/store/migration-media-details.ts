import type { Migration } from '../../contracts/service.ts';

/** Adds the column for channel, length and codecs. */
export const mediaDetails: Migration = {
  name: '055-media-details',
  async up(db) {
    await db.schema.alterTable('downloads').addColumn('media', 'text').execute();
  },
};
