import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { doneStates, type Item } from '../domain/item.ts';
import { fromRow, type Tables } from './rows.ts';

export const batchesMigration: Migration = {
  name: '040-playlist-batches',
  async up(db) {
    // Equal for downloads that were added together; null for a single download.
    await db.schema.alterTable('downloads').addColumn('batch', 'text').execute();
    await db.schema.createIndex('downloads_batch').on('downloads').column('batch').execute();
  },
};

/** Result of the downloads from one playlist or one check of a feed. */
export interface Batch {
  readonly id: string;
  /** Number of downloads still in the queue. */
  readonly open: number;
  readonly finished: number;
  readonly failed: number;
  /** Any ended download of the batch; undefined without any. */
  readonly example: Item | undefined;
}

export async function readBatch(db: Kysely<any>, id: string): Promise<Batch> {
  const tables = db as Kysely<Tables>;
  const rows = await tables
    .selectFrom('downloads')
    .select((expression) => ['state', expression.fn.countAll<number>().as('count')])
    .where('batch', '=', id)
    .groupBy('state')
    .execute();
  const count = (matches: (state: string) => boolean): number =>
    rows.reduce((sum, { state, count: rowCount }) => sum + (matches(state) ? Number(rowCount) : 0), 0);
  const example = await tables
    .selectFrom('downloads')
    .selectAll()
    .where('batch', '=', id)
    .where('state', 'in', doneStates)
    .limit(1)
    .executeTakeFirst();
  return {
    id,
    open: count((state) => state !== 'finished' && state !== 'failed'),
    finished: count((state) => state === 'finished'),
    failed: count((state) => state === 'failed'),
    example: example === undefined ? undefined : fromRow(example),
  };
}

/** Removes a download from its batch, so that it gets a separate notification after a retry. */
export async function leaveBatch(db: Kysely<any>, uid: string): Promise<void> {
  await (db as Kysely<Tables>).updateTable('downloads').set({ batch: null }).where('uid', '=', uid).execute();
}
