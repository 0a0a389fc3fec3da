import { sql, type Expression, type Kysely, type SelectQueryBuilder } from 'kysely';
import type { InboxItem, InboxOffer, InboxPlace } from '../../contracts/inbox/api.ts';
import { executeKnown, inKnownSizes } from '../../kit/known-statement.ts';
import { parseSearch } from '../../kit/search-words.ts';
import { searchWords } from '../item-text.ts';
import { insertItems, insertKeys } from './insert.ts';
import { includes, narrow, type Wanted } from './item-filter.ts';
import { settleRuns, timesOf, type RunOf } from './repeats.ts';
import { within, type Scope } from './scope.ts';
import { bit, itemOf, shown, type Tables } from './tables.ts';
import { ItemWords } from './item-words.ts';

/** What is to become a row, and the key that makes it one row however often it comes. */
export interface Offered {
  readonly key: string;
  readonly offer: InboxOffer;
}

/** A row's number and where it came from, which tells who hears of it. */
export interface Placed extends InboxPlace {
  readonly id: number;
}

/** What tells a row's place. */
export const placed = ['id', 'topic', 'source'] as const;

/** The place of a row that was read with more. */
export function placedOf({ id, topic, source }: Placed): Placed {
  return { id, topic, source };
}

/** The inbox's rows and the keys they were offered under. */
export class ItemStore {
  readonly words: ItemWords;
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
    this.words = new ItemWords(db);
  }

  /**
   * Adds a row for each offer whose key was not taken before, in their order; answers the rows by key. Of two offers with
   * one key the first counts. `now` in ms.
   */
  async add(
    transaction: Kysely<Tables>,
    offers: readonly Offered[],
    now: number,
  ): Promise<ReadonlyMap<string, InboxItem>> {
    const added = new Map<string, InboxItem>();
    for (const some of inKnownSizes(offers)) {
      const known = await this.#known(transaction, some);
      const wanted = new Map<string, InboxOffer>();
      for (const { key, offer } of some) if (!known.has(key) && !wanted.has(key)) wanted.set(key, offer);
      for (const rows of inKnownSizes([...wanted])) {
        const items = await insertItems(
          transaction,
          rows.map(([, offer]) => offer),
        );
        await insertKeys(
          transaction,
          rows.map(([key], index) => ({ key, time: now, item: items[index]?.id ?? null })),
        );
        for (const [index, item] of items.entries()) added.set(rows[index]?.[0] ?? '', item);
      }
    }
    return added;
  }

  /** Of these offers the keys that were taken before. */
  async #known(transaction: Kysely<Tables>, offers: readonly Offered[]): Promise<ReadonlySet<string>> {
    const keys = offers.map(({ key }) => key);
    const build = () => transaction.selectFrom('offers').select('key').where('key', 'in', keys).compile();
    const { rows } = await executeKnown(transaction, `inbox.known ${String(keys.length)}`, keys, build);
    return new Set(rows.map(({ key }) => key));
  }

  /** The keys under which rows were offered, those of removed ones too. */
  async keysOf(ids: readonly number[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const rows = await this.#db.selectFrom('offers').select('key').where('item', 'in', ids).execute();
    return rows.map((row) => row.key);
  }

  /** A page of rows, newest first, those below `before`. */
  async list(wanted: Wanted, before: number | undefined, limit: number): Promise<InboxItem[]> {
    const page = <Row>(query: SelectQueryBuilder<Tables, 'items', Row>): SelectQueryBuilder<Tables, 'items', Row> =>
      narrow(query, wanted)
        .$if(before !== undefined, (rows) => rows.where('id', '<', before ?? 0))
        .limit(limit);
    const parts = await this.#parts(wanted);
    // One that gets its words in between is in both.
    const found = new Map<number, InboxItem & RunOf>();
    for (const part of parts) {
      const rows = await page(part.rows.select([...shown, 'likeness', 'since']))
        .orderBy(part.number, 'desc')
        .execute();
      for (const { likeness, since, ...row } of rows) found.set(row.id, { ...itemOf(row), likeness, since });
    }
    const listed = [...found.values()].sort((a, b) => b.id - a.id).slice(0, limit);
    return Promise.all(
      listed.map(async ({ likeness, since, ...item }) => {
        const repeats =
          wanted.newest === true ? await timesOf(this.#db, { likeness, since, done: item.done }) : undefined;
        return repeats === undefined ? item : { ...item, repeats };
      }),
    );
  }

  /** The run that a row belongs to, for a list of its earlier ones; undefined where there is no such row, or it has none. */
  async runOf(id: number): Promise<Wanted['repeatsOf']> {
    const row = await this.#db
      .selectFrom('items')
      .select(['likeness', 'since', 'done'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined || row.likeness === null || row.since === null) return undefined;
    return { id, likeness: row.likeness, since: row.since, done: row.done === 1 };
  }

  /** 0 where there is none. */
  async newestId(): Promise<number> {
    const row = await this.#db.selectFrom('items').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
    return row?.id ?? 0;
  }

  async one(id: number): Promise<InboxItem | undefined> {
    const row = await this.#db.selectFrom('items').select(shown).where('id', '=', id).executeTakeFirst();
    return row === undefined ? undefined : itemOf(row);
  }

  async count(wanted: Wanted): Promise<number> {
    let count = 0;
    for (const part of await this.#parts(wanted)) {
      const counted = part.rows.select(({ fn }) => fn.countAll<number>().as('count'));
      count += Number((await narrow(counted, wanted).executeTakeFirstOrThrow()).count);
    }
    return count;
  }

  /** The queries that together find the rows with the words that are sought; the number is what to sort by. */
  async #parts({ q = '' }: Wanted) {
    const all = this.#db.selectFrom('items');
    const number: Expression<number> = sql.ref<number>('items.id');
    if (q.trim() === '') return [{ rows: all, number }];
    const phrases = parseSearch(q);
    // There are words, but none that could be found.
    if (phrases.length === 0) return [];
    // The words' own numbers everywhere, so that the index of words leads.
    const indexed = all
      .innerJoin('item_words', (join) => join.on(this.words.number, '=', sql.ref('items.id')))
      .where(this.words.match(phrases)) as typeof all;
    const part = { rows: indexed, number: this.words.number };
    if ((await this.words.backlog(this.#db)) === undefined) return [part];
    const older = searchWords(q).reduce((rows, word) => rows.where(includes(word)), all);
    return [{ rows: older, number }, part];
  }

  /** Rows that are neither read nor put away. */
  async unread(scope?: Scope): Promise<number> {
    return this.count({ unread: true, done: false, scope });
  }

  /** {@link unread} of all, as far as there are fewer than `limit`; else undefined, and no more rows than that were looked at. */
  async unreadBelow(limit: number): Promise<number | undefined> {
    const some = this.#db
      .selectFrom('items')
      .select('id')
      .where('done', '=', bit(false))
      .where('read', '=', bit(false))
      .limit(limit)
      .as('some');
    const row = await this.#db
      .selectFrom(some)
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow();
    const count = Number(row.count);
    return count < limit ? count : undefined;
  }

  async sources(scope?: Scope): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('items')
      .select('source')
      .distinct()
      .where((row) => within(row, scope))
      .orderBy('source')
      .execute();
    return rows.map((row) => row.source);
  }

  /** All places that rows came from. */
  async places(): Promise<InboxPlace[]> {
    return this.#db.selectFrom('items').select(['topic', 'source']).distinct().execute();
  }

  /** The places of up to 1000 rows, as far as they are there and within the scope. */
  async placesOf(ids: readonly number[], scope?: Scope): Promise<InboxPlace[]> {
    return this.#db
      .selectFrom('items')
      .select(['topic', 'source'])
      .distinct()
      .where('id', 'in', ids)
      .where((row) => within(row, scope))
      .execute();
  }

  /** Removes up to 1000 rows for good; answers those that were there. */
  async remove(transaction: Kysely<Tables>, ids: readonly number[], scope?: Scope): Promise<Placed[]> {
    const removed = await transaction
      .deleteFrom('items')
      .where('id', 'in', ids)
      .where((row) => within(row, scope))
      .returning([...placed, 'likeness', 'since'])
      .execute();
    await settleRuns(transaction, removed);
    return removed.map(placedOf);
  }

  /** Removes up to `limit` rows from before `time`, in ms; answers them. */
  async removeOld(transaction: Kysely<Tables>, time: number, limit: number): Promise<Placed[]> {
    const due = transaction.selectFrom('items').select('id').where('time', '<', time).limit(limit);
    const removed = await transaction
      .deleteFrom('items')
      .where('id', 'in', due)
      .returning([...placed, 'likeness', 'since'])
      .execute();
    await settleRuns(transaction, removed);
    return removed.map(placedOf);
  }

  /** Forgets up to `limit` keys taken before `time`, in ms; answers how many went. */
  async forgetOffers(transaction: Kysely<Tables>, time: number, limit: number): Promise<number> {
    const due = transaction.selectFrom('offers').select('key').where('time', '<', time).limit(limit);
    const result = await transaction.deleteFrom('offers').where('key', 'in', due).executeTakeFirst();
    return Number(result.numDeletedRows);
  }
}
