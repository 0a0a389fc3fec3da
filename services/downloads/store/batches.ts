import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { doneStates, type Item } from '../domain/item.ts';
import { fromRow, type Tables } from './rows.ts';

export const batchesMigration: Migration = {
  name: '040-playlist-batches',
  async up(db) {
    // What came together has the same; none for what was added by itself.
    await db.schema.alterTable('downloads').addColumn('batch', 'text').execute();
    await db.schema.createIndex('downloads_batch').on('downloads').column('batch').execute();
  },
};

/** What came of the videos that one playlist, or one look at a feed, has brought. */
export interface Batch {
  readonly id: string;
  /** Still in the queue. */
  readonly open: number;
  readonly finished: number;
  readonly failed: number;
  /** One that is done; undefined while none is. */
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
  const count = (wanted: (state: string) => boolean): number =>
    rows.reduce((sum, { state, count: some }) => sum + (wanted(state) ? Number(some) : 0), 0);
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

/** A download that somebody asked for again is told of by itself. */
export async function leaveBatch(db: Kysely<any>, uid: string): Promise<void> {
  await (db as Kysely<Tables>).updateTable('downloads').set({ batch: null }).where('uid', '=', uid).execute();
}
