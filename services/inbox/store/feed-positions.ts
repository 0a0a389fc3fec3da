import type { Kysely } from 'kysely';

interface Tables {
  feed_places: { feed: string; place: number };
}

/** Positions up to which followed feeds are stored. */
export class FeedPositions {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Returns the stored position; 0 when nothing is stored. */
  async read(feed: string): Promise<number> {
    const row = await this.#db.selectFrom('feed_places').select('place').where('feed', '=', feed).executeTakeFirst();
    return row?.place ?? 0;
  }

  /** Moves the position. Returns false when it differs from `from`, because another host moved it. */
  async advance(transaction: Kysely<Tables>, feed: string, from: number, to: number): Promise<boolean> {
    const rows = await transaction
      .insertInto('feed_places')
      .values({ feed, place: to })
      .onConflict((conflict) =>
        conflict.column('feed').doUpdateSet({ place: to }).where('feed_places.place', '=', from),
      )
      .returning('feed')
      .execute();
    return rows.length > 0;
  }
}
