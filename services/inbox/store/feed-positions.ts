import type { Kysely } from 'kysely';

interface Tables {
  feed_places: { feed: string; place: number };
}

/** How far the feeds that the inbox follows are stored. */
export class FeedPlaces {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** 0 when nothing of it is stored yet. */
  async read(feed: string): Promise<number> {
    const row = await this.#db.selectFrom('feed_places').select('place').where('feed', '=', feed).executeTakeFirst();
    return row?.place ?? 0;
  }

  /** Moves from one place to another; false when it is not at the first any more, since another host has moved it. */
  async move(transaction: Kysely<Tables>, feed: string, from: number, to: number): Promise<boolean> {
    const moved = await transaction
      .insertInto('feed_places')
      .values({ feed, place: to })
      .onConflict((conflict) =>
        conflict.column('feed').doUpdateSet({ place: to }).where('feed_places.place', '=', from),
      )
      .returning('feed')
      .execute();
    return moved.length > 0;
  }
}
