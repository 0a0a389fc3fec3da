import type { Generated, Kysely, Selectable } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

interface TagProtections {
  id: Generated<number>;
  repository_id: number;
  /** Name of a tag, or a pattern. */
  pattern: string;
  /** JSON list of the accounts that may create and delete matching tags. */
  accounts: string;
  created_at: number;
  updated_at: number;
}

export interface TagProtectionTables {
  tag_protections: TagProtections;
}

export type TagProtectionRow = Selectable<TagProtections>;

export const tagProtectionMigration: Migration = {
  name: '011-tag-protections-create',
  async up(db: Kysely<any>) {
    await db.schema
      .createTable('tag_protections')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('repository_id', 'integer', (column) =>
        column.notNull().references('repositories.id').onDelete('cascade'),
      )
      .addColumn('pattern', 'text', (column) => column.notNull())
      .addColumn('accounts', 'text', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('updated_at', 'integer', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('tag_protections_repository').on('tag_protections').column('repository_id').execute();
  },
};
