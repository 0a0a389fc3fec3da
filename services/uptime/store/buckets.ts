import type { Insertable, Kysely, Selectable } from 'kysely';
import { bucketMs, type BucketSize, type Tables } from './tables.ts';

export type Bucket = Selectable<Tables['buckets']>;

/** Stores hours and days of heartbeats. */
export class BucketStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Adds buckets and ignores those that exist. */
  async put(transaction: Kysely<Tables>, rows: readonly Insertable<Tables['buckets']>[]): Promise<void> {
    for (let index = 0; index < rows.length; index += 500) {
      await transaction
        .insertInto('buckets')
        .values(rows.slice(index, index + 500))
        .onConflict((conflict) => conflict.columns(['size', 'monitor_id', 'start']).doNothing())
        .execute();
    }
  }

  /** Lists the buckets of a monitor since a time, oldest first. */
  async since(size: BucketSize, id: number, from: number): Promise<Bucket[]> {
    return this.#db
      .selectFrom('buckets')
      .selectAll()
      .where('size', '=', size)
      .where('monitor_id', '=', id)
      .where('start', '>=', from)
      .orderBy('start')
      .execute();
  }

  /** Returns the end of the last bucket of each monitor. */
  async ends(size: BucketSize): Promise<Map<number, number>> {
    const rows = await this.#db
      .selectFrom('buckets')
      .select(({ fn }) => ['monitor_id', fn.max('start').as('last')])
      .where('size', '=', size)
      .groupBy('monitor_id')
      .execute();
    return new Map(rows.map(({ monitor_id, last }) => [monitor_id, Number(last) + bucketMs[size]]));
  }

  async removeOld(transaction: Kysely<Tables>, size: BucketSize, id: number, before: number): Promise<void> {
    await transaction
      .deleteFrom('buckets')
      .where('size', '=', size)
      .where('monitor_id', '=', id)
      .where('start', '<', before)
      .execute();
  }

  async clear(transaction: Kysely<Tables>): Promise<void> {
    await transaction.deleteFrom('buckets').execute();
  }
}
