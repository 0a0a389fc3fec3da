import type { Migration } from '../../contracts/service.ts';

/** Adds the column for captions and chapters. */
export const otherFiles: Migration = {
  name: '010-other-files',
  async up(db) {
    await db.schema.alterTable('downloads').addColumn('other_files', 'text').execute();
  },
};
