import type { Kysely } from 'kysely';
import { DownloadLimits } from '../../contracts/downloads/limits.ts';
import type { Migration } from '../../contracts/service.ts';

interface Tables {
  /** Holds a single row, or none before a limit is set. */
  downloads_limits: { id: number; limits: string };
  downloads: { uid: string; state: string; anyway: number | null };
}

export const limitsMigration: Migration = {
  name: '030-limits',
  async up(db) {
    await db.schema
      .createTable('downloads_limits')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('limits', 'text', (column) => column.notNull())
      .execute();
    await db.schema.alterTable('downloads').addColumn('anyway', 'integer').execute();
  },
};

export async function readLimits(db: Kysely<any>): Promise<DownloadLimits> {
  const row = await (db as Kysely<Tables>).selectFrom('downloads_limits').select('limits').executeTakeFirst();
  return DownloadLimits.parse(row === undefined ? {} : JSON.parse(row.limits));
}

export async function writeLimits(db: Kysely<any>, limits: DownloadLimits): Promise<void> {
  const row = { id: 1, limits: JSON.stringify(limits) };
  await (db as Kysely<Tables>)
    .insertInto('downloads_limits')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ limits: row.limits }))
    .execute();
}

/** Lets downloads run outside of the allowed hours. */
export async function ignoreHours(db: Kysely<any>, uids: readonly string[]): Promise<void> {
  await (db as Kysely<Tables>).updateTable('downloads').set({ anyway: 1 }).where('uid', 'in', uids).execute();
}

/** Returns the uids of the downloads that run only in the allowed hours. */
export async function findBoundToHours(db: Kysely<any>, uids: readonly string[]): Promise<readonly string[]> {
  if (uids.length === 0) return [];
  const rows = await (db as Kysely<Tables>)
    .selectFrom('downloads')
    .select('uid')
    .where('uid', 'in', uids)
    .where('anyway', 'is', null)
    .execute();
  return rows.map(({ uid }) => uid);
}
