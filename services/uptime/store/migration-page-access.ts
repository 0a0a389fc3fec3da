import type { Migration } from '../../contracts/service.ts';

/** Adds the hash of the password of a status page; null without a password. */
export const addPagePassword: Migration = {
  name: '010-add-page-password',
  async up(db) {
    await db.schema.alterTable('status_pages').addColumn('password_hash', 'text').execute();
  },
};
