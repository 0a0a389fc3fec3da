import type { Generated } from 'kysely';
import type { Migration } from '../../../services/contracts/service.ts';

/** Tables of {@link HostDirectory}; times are in ms since the epoch, by the clock of the database. */
export interface HostsTables {
  hosts: {
    readonly id: string;
    /** Name of the computer. */
    readonly name: string;
    readonly version: string;
    /** 1 while the host is stopping. */
    readonly draining: number;
    readonly started_at: number;
    readonly seen_at: number;
    /** JSON of the services that do not work. */
    readonly problems: Generated<string>;
  };
}

/** Table of the hosts that share a database. */
export const hostsMigrations: readonly Migration[] = [
  {
    name: 'hosts-001-create',
    async up(db) {
      await db.schema
        .createTable('hosts')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('version', 'text', (column) => column.notNull())
        .addColumn('draining', 'integer', (column) => column.notNull())
        .addColumn('started_at', 'integer', (column) => column.notNull())
        .addColumn('seen_at', 'integer', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: 'hosts-002-problems',
    async up(db) {
      await db.schema
        .alterTable('hosts')
        .addColumn('problems', 'text', (column) => column.notNull().defaultTo('[]'))
        .execute();
    },
  },
];
