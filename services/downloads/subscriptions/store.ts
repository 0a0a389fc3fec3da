import type { Kysely, Selectable } from 'kysely';
import { FailureCode } from '../../contracts/downloads/causes.ts';
import { defaultOrderOptions, type Order } from '../domain/order.ts';
import type { StoredSubscription, SubscriptionChange } from '../domain/subscription.ts';
import { getNextCheck } from './schedule.ts';
import { parseFailureParameters, serializeFailureParameters, toStorableText } from '../store/rows.ts';

interface SubscriptionRow {
  id: string;
  url: string;
  name: string;
  /** JSON of an Order. */
  request: string;
  enabled: number;
  interval_minutes: number;
  title_regex: string;
  skip_members_only: number;
  created_at: number;
  last_checked: number | null;
  next_check: number;
  last_found: number | null;
  found: number;
  error: string | null;
  /** Code of the error. */
  failure: string | null;
  /** JSON of the values of the failure's text, or null. */
  failure_parameters: string | null;
  failures: number;
  removed_at: number | null;
  picture: string | null;
}

interface Tables {
  downloads_subscriptions: SubscriptionRow;
  downloads_seen: { subscription: string; entry: string };
}

/** Rows per statement. */
const chunk = 500;

/** Stores subscriptions and their seen entries, on one connection or transaction. */
export class SubscriptionStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<any>) {
    this.#db = db as Kysely<Tables>;
  }

  /** Returns all subscriptions in the order of their creation. */
  async list(): Promise<readonly StoredSubscription[]> {
    const rows = await this.#selectActive().orderBy('created_at').orderBy('id').execute();
    const seenCounts = await this.#db
      .selectFrom('downloads_seen')
      .select((expression) => ['subscription', expression.fn.countAll<number>().as('count')])
      .groupBy('subscription')
      .execute();
    const seen = new Map(seenCounts.map(({ subscription, count }) => [subscription, Number(count)]));
    return rows.map((row) => fromRow(row, seen.get(row.id) ?? 0));
  }

  async find(id: string): Promise<StoredSubscription | undefined> {
    const row = await this.#selectActive().where('id', '=', toStorableText(id)).executeTakeFirst();
    return row === undefined ? undefined : fromRow(row, await this.#countSeen(id));
  }

  async findByUrl(url: string): Promise<StoredSubscription | undefined> {
    const row = await this.#selectActive().where('url', '=', url).executeTakeFirst();
    return row === undefined ? undefined : fromRow(row, await this.#countSeen(row.id));
  }

  async insert(subscription: Omit<StoredSubscription, 'seen'>): Promise<void> {
    const row = { ...toRow(subscription), id: subscription.id };
    const values = { ...row, created_at: subscription.createdAt, removed_at: null } as SubscriptionRow;
    await this.#db.insertInto('downloads_subscriptions').values(values).execute();
  }

  /** Changes a subscription; undefined when it no longer exists. */
  async change(id: string, change: SubscriptionChange): Promise<StoredSubscription | undefined> {
    const current = await this.find(id);
    if (current === undefined) return undefined;
    await this.#db
      .updateTable('downloads_subscriptions')
      .set(toRow({ ...current, ...change }))
      .where('id', '=', id)
      .execute();
    return await this.find(id);
  }

  /**
   * Claims the due subscriptions by moving their next check to `retryAt`, in case this process ends during the check.
   */
  async claimDue(now: number, retryAt: number): Promise<readonly string[]> {
    const rows = await this.#db
      .updateTable('downloads_subscriptions')
      .set({ next_check: retryAt })
      .where('enabled', '=', 1)
      .where('removed_at', 'is', null)
      .where('next_check', '<=', now)
      .returning('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Makes checks due again that {@link claimDue} has postponed and that did not end. */
  async releaseClaims(): Promise<void> {
    for (const { id, createdAt, lastChecked, intervalMinutes, failures, nextCheck, enabled } of await this.list()) {
      const due = getNextCheck(lastChecked ?? createdAt, intervalMinutes, failures);
      if (enabled && due < nextCheck) await this.change(id, { nextCheck: due });
    }
  }

  /** Marks entries as seen and returns the new ones. */
  async markSeen(id: string, entries: readonly string[]): Promise<ReadonlySet<string>> {
    const newEntries = new Set<string>();
    const distinct = [...new Set(entries)];
    for (let start = 0; start < distinct.length; start += chunk) {
      const values = distinct.slice(start, start + chunk).map((entry) => ({ subscription: id, entry }));
      const rows = await this.#db
        .insertInto('downloads_seen')
        .values(values)
        .onConflict((conflict) => conflict.columns(['subscription', 'entry']).doNothing())
        .returning('entry')
        .execute();
      for (const { entry } of rows) newEntries.add(entry);
    }
    return newEntries;
  }

  /** Returns whether any of these entries was seen before. */
  async hasSeen(id: string, entries: readonly string[]): Promise<boolean> {
    for (let start = 0; start < entries.length; start += chunk) {
      const row = await this.#db
        .selectFrom('downloads_seen')
        .select('entry')
        .where('subscription', '=', id)
        .where('entry', 'in', entries.slice(start, start + chunk))
        .executeTakeFirst();
      if (row !== undefined) return true;
    }
    return false;
  }

  /** Marks subscriptions as removed and returns their ids. */
  async remove(ids: readonly string[], timestamp: number): Promise<readonly string[]> {
    const rows = await this.#db
      .updateTable('downloads_subscriptions')
      .set({ removed_at: timestamp })
      .where('id', 'in', ids.map(toStorableText))
      .where('removed_at', 'is', null)
      .returning('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Restores removed subscriptions, unless their address was subscribed again. */
  async restore(ids: readonly string[]): Promise<readonly string[]> {
    const subscribedUrls = this.#db.selectFrom('downloads_subscriptions').select('url').where('removed_at', 'is', null);
    const rows = await this.#db
      .updateTable('downloads_subscriptions')
      .set({ removed_at: null })
      .where('id', 'in', ids.map(toStorableText))
      .where('removed_at', 'is not', null)
      .where('url', 'not in', subscribedUrls)
      .returning('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Deletes subscriptions that were removed before a time, and returns their ids. */
  async deleteRemoved(before: number): Promise<readonly string[]> {
    const expired = this.#db.selectFrom('downloads_subscriptions').select('id').where('removed_at', '<', before);
    await this.#db.deleteFrom('downloads_seen').where('subscription', 'in', expired).execute();
    const rows = await this.#db
      .deleteFrom('downloads_subscriptions')
      .where('removed_at', '<', before)
      .returning('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  #selectActive() {
    return this.#db.selectFrom('downloads_subscriptions').selectAll().where('removed_at', 'is', null);
  }

  async #countSeen(id: string): Promise<number> {
    const row = await this.#db
      .selectFrom('downloads_seen')
      .select((expression) => expression.fn.countAll<number>().as('count'))
      .where('subscription', '=', id)
      .executeTakeFirst();
    return Number(row?.count ?? 0);
  }
}

function fromRow(row: Selectable<SubscriptionRow>, seen: number): StoredSubscription {
  return {
    id: row.id,
    url: row.url,
    name: row.name,
    order: { ...defaultOrderOptions, ...(JSON.parse(row.request) as Order) },
    enabled: row.enabled === 1,
    intervalMinutes: row.interval_minutes,
    titleRegex: row.title_regex,
    skipMembersOnly: row.skip_members_only === 1,
    createdAt: Number(row.created_at),
    lastChecked: row.last_checked === null ? null : Number(row.last_checked),
    nextCheck: Number(row.next_check),
    lastFound: row.last_found === null ? null : Number(row.last_found),
    found: row.found,
    error: row.error,
    // A code of a newer version is unknown.
    failure: FailureCode.safeParse(row.failure).data ?? null,
    failureParameters: parseFailureParameters(row.failure_parameters),
    failures: row.failures,
    picture: row.picture,
    seen,
  };
}

function toRow(subscription: Omit<StoredSubscription, 'id' | 'createdAt' | 'seen'>) {
  return {
    url: subscription.url,
    name: toStorableText(subscription.name),
    request: JSON.stringify(subscription.order),
    enabled: subscription.enabled ? 1 : 0,
    interval_minutes: subscription.intervalMinutes,
    title_regex: toStorableText(subscription.titleRegex),
    skip_members_only: subscription.skipMembersOnly ? 1 : 0,
    last_checked: subscription.lastChecked,
    next_check: subscription.nextCheck,
    last_found: subscription.lastFound,
    found: subscription.found,
    error: toStorableText(subscription.error),
    failure: subscription.failure,
    failure_parameters: serializeFailureParameters(subscription.failureParameters),
    failures: subscription.failures,
    picture: toStorableText(subscription.picture),
  };
}
