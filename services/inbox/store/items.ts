import { sql, type Expression, type Kysely, type SelectQueryBuilder, type SqlBool } from 'kysely';
import type { InboxItem, InboxOffer, InboxPlace } from '../../contracts/inbox/api.ts';
import { executeKnown, inKnownSizes } from '../../kit/known-statement.ts';
import { parseSearch } from '../../kit/search-words.ts';
import { escaped, searchWords } from '../domain.ts';
import { ItemWords } from './words.ts';
import { within, type Scope } from './scope.ts';
import { itemOf, shown, type Tables } from './tables.ts';

/** Which rows are asked for; what is left out does not matter. */
export interface Wanted {
  /** What somebody seeks, as it was typed. */
  readonly q?: string | undefined;
  readonly source?: string | undefined;
  readonly tag?: string | undefined;
  readonly minPriority?: number | undefined;
  readonly unread?: boolean | undefined;
  readonly done?: boolean | undefined;
  readonly scope?: Scope | undefined;
}

export interface Change {
  readonly read?: boolean | undefined;
  readonly done?: boolean | undefined;
}

/** What is to become a row, and the key that makes it one row however often it comes. */
export interface Offered {
  readonly key: string;
  readonly offer: InboxOffer;
}

/** A row's number and where it came from, which tells who hears of it. */
export interface Placed extends InboxPlace {
  readonly id: number;
}

const placed = ['id', 'topic', 'source'] as const;

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
        const ids = await insertItems(
          transaction,
          rows.map(([, offer]) => offer),
        );
        await insertKeys(
          transaction,
          rows.map(([key], index) => ({ key, time: now, item: ids[index] ?? null })),
        );
        for (const [index, [key, offer]] of rows.entries()) added.set(key, newItem(ids[index] ?? 0, offer));
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
    const found = new Map<number, InboxItem>();
    for (const part of parts) {
      const rows = await page(part.rows.select(shown)).orderBy(part.number, 'desc').execute();
      for (const row of rows) found.set(row.id, itemOf(row));
    }
    return [...found.values()].sort((a, b) => b.id - a.id).slice(0, limit);
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

  /** The places of these rows, as far as they are there and within the scope. */
  async placesOf(ids: readonly number[], scope?: Scope): Promise<InboxPlace[]> {
    return this.#db
      .selectFrom('items')
      .select(['topic', 'source'])
      .distinct()
      .where('id', 'in', ids)
      .where((row) => within(row, scope))
      .execute();
  }

  /** Marks rows; answers those that were not so before. */
  async change(
    transaction: Kysely<Tables>,
    ids: 'all' | readonly number[],
    change: Change,
    scope?: Scope,
  ): Promise<Placed[]> {
    const set = {
      ...(change.read !== undefined && { read: bit(change.read) }),
      ...(change.done !== undefined && { done: bit(change.done) }),
    };
    if (Object.keys(set).length === 0) return [];
    return transaction
      .updateTable('items')
      .set(set)
      .where((row) =>
        row.or([
          ...(set.read === undefined ? [] : [row('read', '!=', set.read)]),
          ...(set.done === undefined ? [] : [row('done', '!=', set.done)]),
        ]),
      )
      .$if(ids !== 'all', (query) => query.where('id', 'in', ids === 'all' ? [] : ids))
      .where((row) => within(row, scope))
      .returning(placed)
      .execute();
  }

  /** Removes rows for good; answers those that were there. */
  async remove(transaction: Kysely<Tables>, ids: readonly number[], scope?: Scope): Promise<Placed[]> {
    return transaction
      .deleteFrom('items')
      .where('id', 'in', ids)
      .where((row) => within(row, scope))
      .returning(placed)
      .execute();
  }

  /** Removes up to `limit` rows from before `time`, in ms; answers them. */
  async removeOld(transaction: Kysely<Tables>, time: number, limit: number): Promise<Placed[]> {
    const due = transaction.selectFrom('items').select('id').where('time', '<', time).limit(limit);
    return transaction.deleteFrom('items').where('id', 'in', due).returning(placed).execute();
  }

  /** Forgets up to `limit` keys taken before `time`, in ms; answers how many went. */
  async forgetOffers(transaction: Kysely<Tables>, time: number, limit: number): Promise<number> {
    const due = transaction.selectFrom('offers').select('key').where('time', '<', time).limit(limit);
    const result = await transaction.deleteFrom('offers').where('key', 'in', due).executeTakeFirst();
    return Number(result.numDeletedRows);
  }
}

/** Answers the ids of the rows, in their order. */
async function insertItems(transaction: Kysely<Tables>, offers: readonly InboxOffer[]): Promise<readonly number[]> {
  const rows = offers.map(rowOf);
  const build = () => transaction.insertInto('items').values(rows).returning('id').compile();
  const values = rows.flatMap((row) => Object.values(row));
  const inserted = await executeKnown(transaction, `inbox.items ${String(rows.length)}`, values, build);
  // Neither database promises the order in which it returns rows, but both number them in the order given.
  return inserted.rows.map(({ id }) => id).sort((a, b) => a - b);
}

/** A key that another host has taken in this moment fails here, and is known when the offer is tried again. */
async function insertKeys(transaction: Kysely<Tables>, keys: readonly Tables['offers'][]): Promise<void> {
  const build = () => transaction.insertInto('offers').values(keys).compile();
  const values = keys.flatMap(({ key, time, item }) => [key, time, item]);
  await executeKnown(transaction, `inbox.keys ${String(keys.length)}`, values, build);
}

/** In one order, whoever made the offer: the statement's text is kept. */
function rowOf(offer: InboxOffer) {
  const { title, body, format, priority, tags, source, topic, link = null, time } = offer;
  return {
    ...{ title, body, format, priority, tags: JSON.stringify(tags), source, topic, link, time },
    ...{ read: 0 as const, done: 0 as const, search: '' },
  };
}

function newItem(id: number, offer: InboxOffer): InboxItem {
  return { id, ...offer, link: offer.link ?? null, read: false, done: false };
}

function bit(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}

function narrow<Row>(
  query: SelectQueryBuilder<Tables, 'items', Row>,
  wanted: Wanted,
): SelectQueryBuilder<Tables, 'items', Row> {
  const { source, tag, minPriority, unread, done, scope } = wanted;
  let narrowed = query;
  if (scope !== undefined) narrowed = narrowed.where((row) => within(row, scope));
  if (done !== undefined) narrowed = narrowed.where('done', '=', bit(done));
  if (unread !== undefined) narrowed = narrowed.where('read', '=', bit(!unread));
  if (source !== undefined) narrowed = narrowed.where('source', '=', source);
  if (minPriority !== undefined) narrowed = narrowed.where('priority', '>=', minPriority);
  if (tag !== undefined) narrowed = narrowed.where((row) => row.or(tagged(tag)));
  return narrowed;
}

/** In a JSON list an unescaped quote after `[` or `,` begins an element: so a tag is found as a whole, in its case. */
function tagged(tag: string): Expression<SqlBool>[] {
  const tags = sql.ref('tags');
  // LIKE minds the case on PostgreSQL and not on SQLite, and what finds a text in a text has another name on each.
  const holds = (text: string): Expression<SqlBool> => sql<SqlBool>`replace(${tags}, ${text}, '') <> ${tags}`;
  return [holds(`[${JSON.stringify(tag)}`), holds(`,${JSON.stringify(tag)}`)];
}

function includes(word: string): Expression<SqlBool> {
  return sql<SqlBool>`${sql.ref('search')} like ${`%${escaped(word)}%`} escape '\\'`;
}
