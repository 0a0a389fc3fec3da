import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { doneStates, type Item } from '../domain/item.ts';
import { fromRow, type Tables } from './rows.ts';

/** Rows that go into one statement. */
const chunk = 500;

export const batchesMigration: Migration = {
  name: '040-playlist-batches',
  async up(db) {
    // The uid of the row that became the entries of a playlist; none for what was added by itself.
    await db.schema.alterTable('downloads').addColumn('batch', 'text').execute();
    await db.schema.createIndex('downloads_batch').on('downloads').column('batch').execute();
  },
};

/** What came of the videos that one request for a playlist has brought. */
export interface Batch {
  readonly id: string;
  /** Still in the queue. */
  readonly open: number;
  readonly finished: number;
  readonly failed: number;
  /** One that is done; undefined while none is. */
  readonly example: Item | undefined;
}

/** The batches that downloads belong to, each once. */
export async function batchesOf(db: Kysely<any>, uids: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (let start = 0; start < uids.length; start += chunk) {
    const rows = await (db as Kysely<Tables>)
      .selectFrom('downloads')
      .select('batch')
      .distinct()
      .where('uid', 'in', uids.slice(start, start + chunk))
      .where('batch', 'is not', null)
      .execute();
    for (const { batch } of rows) if (batch !== null) found.add(batch);
  }
  return [...found];
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
