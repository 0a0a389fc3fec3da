import type { Migration } from '../../services/contracts/service.ts';
import { accountsMigrations } from './accounts/tables.ts';
import { hostsMigrations } from './hosts/hosts-table.ts';
import { leasesMigrations } from './leases/migrations.ts';
import { databaseKeyMigrations } from './vault/database-key-check.ts';

/** Steps for the tables of the host itself, in order. */
export const hostMigrations: readonly Migration[] = [
  ...accountsMigrations,
  ...databaseKeyMigrations,
  ...hostsMigrations,
  ...leasesMigrations,
];
