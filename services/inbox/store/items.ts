import { sql, type Expression, type Kysely, type SelectQueryBuilder } from 'kysely';
import { UnreadTopic, type InboxItem, type InboxOffer, type InboxOrigin } from '../../contracts/inbox/api.ts';
import { executeCached, chunkRows } from '../../kit/cached-statement.ts';
import { parseSearch } from '../../kit/search-terms.ts';
import { splitSearchWords } from '../item-text.ts';
import { insertItems, insertKeys } from './insert.ts';
import { includes, applyFilter, type ItemFilter } from './item-filter.ts';
import { updateLatest, countRepeats, type RunKey } from './repeats.ts';
import { isWithinScope, type Scope } from './scope.ts';
import { toBit, toItem, itemColumns, type Tables } from './tables.ts';
import { ItemWords } from './item-search-terms.ts';

/** Offer with the key that makes it one row regardless of retries. */
export interface KeyedOffer {
  readonly key: string;
  readonly offer: InboxOffer;
}

/** Id of a row and its origin, which determines who may read it. */
export interface ItemPlace extends InboxOrigin {
  readonly id: number;
}

/** Columns of an item's place. */
export const placeColumns = ['id', 'topic', 'source'] as const;

/** Extracts the place of a row. */
export function toItemPlace({ id, topic, source }: ItemPlace): ItemPlace {
  return { id, topic, source };
}

/** Inbox rows and the keys of their offers. */
export class ItemStore {
  readonly itemWords: ItemWords;
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
    this.itemWords = new ItemWords(db);
  }

  /**
   * Inserts a row for each offer with a new key, in order, and returns the rows by key. Of offers with the same key,
   * the first is used. `now` is in ms.
   */
  async add(
    transaction: Kysely<Tables>,
    offers: readonly KeyedOffer[],
    now: number,
  ): Promise<ReadonlyMap<string, InboxItem>> {
    const added = new Map<string, InboxItem>();
    for (const chunk of chunkRows(offers)) {
      const existingKeys = await this.#findExistingKeys(transaction, chunk);
      const newOffers = new Map<string, InboxOffer>();
      for (const { key, offer } of chunk) if (!existingKeys.has(key) && !newOffers.has(key)) newOffers.set(key, offer);
      for (const rows of chunkRows([...newOffers])) {
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

  /** Returns the keys of these offers that exist. */
  async #findExistingKeys(transaction: Kysely<Tables>, offers: readonly KeyedOffer[]): Promise<ReadonlySet<string>> {
    const keys = offers.map(({ key }) => key);
    const build = () => transaction.selectFrom('offers').select('key').where('key', 'in', keys).compile();
    const { rows } = await executeCached(transaction, `inbox.known ${String(keys.length)}`, keys, build);
    return new Set(rows.map(({ key }) => key));
  }

  /** Returns the keys of rows, including deleted ones. */
  async findKeys(ids: readonly number[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const rows = await this.#db.selectFrom('offers').select('key').where('item', 'in', ids).execute();
    return rows.map((row) => row.key);
  }

  /** Returns a page of rows with ids below `before`, newest first. */
  async list(newOffers: ItemFilter, before: number | undefined, limit: number): Promise<InboxItem[]> {
    const page = <Row>(query: SelectQueryBuilder<Tables, 'items', Row>): SelectQueryBuilder<Tables, 'items', Row> =>
      applyFilter(query, newOffers)
        .$if(before !== undefined, (rows) => rows.where('id', '<', before ?? 0))
        .limit(limit);
    const queries = await this.#buildQueries(newOffers);
    // A row that is indexed in between is in both results.
    const items = new Map<number, InboxItem & RunKey>();
    for (const indexedQuery of queries) {
      const rows = await page(indexedQuery.rows.select([...itemColumns, 'likeness', 'since']))
        .orderBy(indexedQuery.number, 'desc')
        .execute();
      for (const { likeness, since, ...row } of rows) items.set(row.id, { ...toItem(row), likeness, since });
    }
    const listed = [...items.values()].sort((a, b) => b.id - a.id).slice(0, limit);
    return Promise.all(
      listed.map(async ({ likeness, since, ...item }) => {
        const repeats =
          newOffers.newest === true ? await countRepeats(this.#db, { likeness, since, done: item.done }) : undefined;
        return repeats === undefined ? item : { ...item, repeats };
      }),
    );
  }

  /** Returns the run of a row, used to list its earlier repeats; undefined when it does not exist or has none. */
  async findRun(id: number): Promise<ItemFilter['repeatsOf']> {
    const row = await this.#db
      .selectFrom('items')
      .select(['likeness', 'since', 'done'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined || row.likeness === null || row.since === null) return undefined;
    return { id, likeness: row.likeness, since: row.since, done: row.done === 1 };
  }

  /** Returns 0 without rows. */
  async newestId(): Promise<number> {
    const row = await this.#db.selectFrom('items').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
    return row?.id ?? 0;
  }

  async find(id: number): Promise<InboxItem | undefined> {
    const row = await this.#db.selectFrom('items').select(itemColumns).where('id', '=', id).executeTakeFirst();
    return row === undefined ? undefined : toItem(row);
  }

  async count(newOffers: ItemFilter): Promise<number> {
    let count = 0;
    for (const indexedQuery of await this.#buildQueries(newOffers)) {
      const countQuery = indexedQuery.rows.select(({ fn }) => fn.countAll<number>().as('count'));
      count += Number((await applyFilter(countQuery, newOffers).executeTakeFirstOrThrow()).count);
    }
    return count;
  }

  /** Returns the queries that together find the searched rows; the number is the sort key. */
  async #buildQueries({ q = '' }: ItemFilter) {
    const items = this.#db.selectFrom('items');
    const number: Expression<number> = sql.ref<number>('items.id');
    if (q.trim() === '') return [{ rows: items, number }];
    const phrases = parseSearch(q);
    // The search contains words, but none that can be indexed.
    if (phrases.length === 0) return [];
    // Uses the numbers of the word table in every condition, so that the word index drives the join.
    const indexed = items
      .innerJoin('item_words', (join) => join.on(this.itemWords.number, '=', sql.ref('items.id')))
      .where(this.itemWords.match(phrases)) as typeof items;
    const indexedQuery = { rows: indexed, number: this.itemWords.number };
    if ((await this.itemWords.backlog(this.#db)) === undefined) return [indexedQuery];
    const unindexed = splitSearchWords(q).reduce((rows, word) => rows.where(includes(word)), items);
    return [{ rows: unindexed, number }, indexedQuery];
  }

  /** Returns the number of rows that are neither read nor done. */
  async countUnread(scope?: Scope): Promise<number> {
    return this.count({ unread: true, done: false, scope });
  }

  /** Returns the push topics with unread rows, with their number and highest priority. */
  async countUnreadByTopic(scope?: Scope): Promise<UnreadTopic[]> {
    const rows = await this.#db
      .selectFrom('items')
      .select(({ fn }) => ['topic', fn.countAll().as('count'), fn.max('priority').as('priority')])
      .where('done', '=', toBit(false))
      .where('read', '=', toBit(false))
      .where('topic', '!=', '')
      .where((row) => isWithinScope(row, scope))
      .groupBy('topic')
      .orderBy('topic')
      .execute();
    return rows.map(({ topic, count, priority }) =>
      UnreadTopic.parse({ topic, count: Number(count), priority: Number(priority) }),
    );
  }

  /**
   * Returns the number of unread rows when it is below `limit`; otherwise undefined, after scanning at most `limit`
   * rows.
   */
  async countUnreadBelow(limit: number): Promise<number | undefined> {
    const chunk = this.#db
      .selectFrom('items')
      .select('id')
      .where('done', '=', toBit(false))
      .where('read', '=', toBit(false))
      .limit(limit)
      .as('some');
    const row = await this.#db
      .selectFrom(chunk)
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
      .where((row) => isWithinScope(row, scope))
      .orderBy('source')
      .execute();
    return rows.map((row) => row.source);
  }

  /** Returns the places of all rows. */
  async places(): Promise<InboxOrigin[]> {
    return this.#db.selectFrom('items').select(['topic', 'source']).distinct().execute();
  }

  /** Returns the places of up to 1000 rows within the scope. */
  async findPlaces(ids: readonly number[], scope?: Scope): Promise<InboxOrigin[]> {
    return this.#db
      .selectFrom('items')
      .select(['topic', 'source'])
      .distinct()
      .where('id', 'in', ids)
      .where((row) => isWithinScope(row, scope))
      .execute();
  }

  /** Deletes up to 1000 rows and returns those that existed. */
  async remove(transaction: Kysely<Tables>, ids: readonly number[], scope?: Scope): Promise<ItemPlace[]> {
    const removed = await transaction
      .deleteFrom('items')
      .where('id', 'in', ids)
      .where((row) => isWithinScope(row, scope))
      .returning([...placeColumns, 'likeness', 'since'])
      .execute();
    await updateLatest(transaction, removed);
    return removed.map(toItemPlace);
  }

  /** Deletes up to `limit` rows older than `time` (ms) and returns them. */
  async removeOld(transaction: Kysely<Tables>, time: number, limit: number): Promise<ItemPlace[]> {
    const due = transaction.selectFrom('items').select('id').where('time', '<', time).limit(limit);
    const removed = await transaction
      .deleteFrom('items')
      .where('id', 'in', due)
      .returning([...placeColumns, 'likeness', 'since'])
      .execute();
    await updateLatest(transaction, removed);
    return removed.map(toItemPlace);
  }

  /** Deletes up to `limit` keys recorded before `time` (ms) and returns their number. */
  async removeOffers(transaction: Kysely<Tables>, time: number, limit: number): Promise<number> {
    const due = transaction.selectFrom('offers').select('key').where('time', '<', time).limit(limit);
    const result = await transaction.deleteFrom('offers').where('key', 'in', due).executeTakeFirst();
    return Number(result.numDeletedRows);
  }
}
