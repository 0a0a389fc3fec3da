import type { Migration } from '../contracts/service.ts';
import { batchesMigration } from './store/batches.ts';
import { limitsMigration } from './limits/store.ts';
import { cookieMigrations } from './cookies/migrations.ts';
import { subscriptionMigrations } from './subscriptions/migrations.ts';
import { failureCodes } from './store/migration-failure-codes.ts';
import { failureParameters } from './store/migration-failure-parameters.ts';
import { upgradesMigration } from './store/seal-addresses.ts';
import { startTimes } from './store/migration-start-times.ts';
import { downloadMigrations } from './store/download-migrations.ts';
import { hostsOfDownloads } from './store/migration-hosts.ts';
import { mediaDetails } from './store/migration-media-details.ts';
import { otherFiles } from './store/migration-other-files.ts';

export const migrations: readonly Migration[] = [
  ...downloadMigrations,
  otherFiles,
  ...subscriptionMigrations,
  ...cookieMigrations,
  startTimes,
  limitsMigration,
  batchesMigration,
  upgradesMigration,
  failureCodes,
  failureParameters,
  mediaDetails,
  hostsOfDownloads,
];
