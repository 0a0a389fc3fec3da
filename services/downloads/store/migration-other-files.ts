import type { Migration } from '../../contracts/service.ts';

/** Captions and chapters beside the main file. */
export const otherFiles: Migration = {
  name: '010-other-files',
  async up(db) {
    await db.schema.alterTable('downloads').addColumn('other_files', 'text').execute();
  },
};
