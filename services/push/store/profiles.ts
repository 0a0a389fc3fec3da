import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import { removeNow } from './removal.ts';
import { findDisplayName, storeDisplayName } from './topic-preferences.ts';
import { Preferences } from '../wire/account.ts';

interface Tables {
  profiles: { account: string; preferences: string };
  subscriptions: {
    account: string;
    base_url: string;
    topic: string;
    display_name: string | null;
    time: number;
    /** 1 for a topic of this server. */
    own: number;
  };
  reservations: { topic: string; account: string; everyone: string };
  topic_preferences: { account: string; topic: string };
}

/** Subscription to a topic on any server, shown in the apps of an account. */
export interface StoredSubscription {
  readonly base_url: string;
  readonly topic: string;
  readonly display_name: string | null;
}

/** Topic reserved by an account; `everyone` is ntfy's name for the permission of other accounts. */
export interface StoredReservation {
  readonly topic: string;
  readonly everyone: string;
}

/** Change of a subscription by an app. */
export interface SubscriptionChange extends StoredSubscription {
  /** The topic is on this server, so that its display name applies to the pages as well. */
  readonly isOwn: boolean;
}

const maxSubscriptions = 1000;

/** Account data that apps synchronize: preferences, subscribed topics and reserved topics. */
export class ProfileStore {
  readonly #db: Kysely<Tables>;
  readonly #commit: Context['commit'];

  constructor({ db, commit }: Pick<Context, 'db' | 'commit'>) {
    this.#db = db;
    this.#commit = commit;
  }

  async preferences(account: string): Promise<Preferences> {
    return readPreferences(this.#db, account);
  }

  /** Merges the given fields into the stored preferences. */
  async updatePreferences(account: string, change: Preferences): Promise<void> {
    await this.#commit(async (transaction: Kysely<Tables>) => {
      const stored = await readPreferences(transaction, account);
      const notification = { ...stored.notification, ...change.notification };
      const merged = {
        ...stored,
        ...change,
        ...(Object.keys(notification).length === 0 ? {} : { notification }),
      };
      const preferences = JSON.stringify(merged);
      await transaction
        .insertInto('profiles')
        .values({ account, preferences })
        .onConflict((conflict) => conflict.column('account').doUpdateSet({ preferences }))
        .execute();
    });
  }

  async subscriptions(account: string): Promise<readonly StoredSubscription[]> {
    return this.#db
      .selectFrom('subscriptions')
      .select(['base_url', 'topic', 'display_name'])
      .where('account', '=', account)
      .orderBy('time')
      .orderBy('topic')
      .limit(maxSubscriptions)
      .execute();
  }

  /**
   * Adds a subscription. Without a display name it gets the one that the account has set for the topic on the pages.
   * Returns undefined when the subscription exists or the account has too many.
   */
  async subscribe(
    account: string,
    { isOwn, ...subscription }: SubscriptionChange,
    time: number,
  ): Promise<StoredSubscription | undefined> {
    return this.#commit(async (transaction: Kysely<Tables>) => {
      const { count } = await transaction
        .selectFrom('subscriptions')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('account', '=', account)
        .executeTakeFirstOrThrow();
      if (Number(count) >= maxSubscriptions) return undefined;
      const { topic } = subscription;
      const display_name =
        subscription.display_name ?? (isOwn ? await findDisplayName(transaction, account, topic) : null);
      const added = await transaction
        .insertInto('subscriptions')
        .values({ account, ...subscription, display_name, time, own: isOwn ? 1 : 0 })
        .onConflict((conflict) => conflict.doNothing())
        .returning('topic')
        .execute();
      if (added.length === 0) return undefined;
      if (isOwn && display_name !== null)
        await storeDisplayName(transaction, { account, topic, displayName: display_name });
      return { ...subscription, display_name };
    });
  }

  /** Returns false when the subscription does not exist. */
  async rename(account: string, { base_url, topic, display_name, isOwn }: SubscriptionChange): Promise<boolean> {
    return this.#commit(async (transaction: Kysely<Tables>) => {
      const changed = await transaction
        .updateTable('subscriptions')
        .set({ display_name, own: isOwn ? 1 : 0 })
        .where('account', '=', account)
        .where('base_url', '=', base_url)
        .where('topic', '=', topic)
        .returning('topic')
        .execute();
      if (isOwn && changed.length > 0)
        await storeDisplayName(transaction, { account, topic, displayName: display_name ?? '' });
      return changed.length > 0;
    });
  }

  async unsubscribe(account: string, baseUrl: string, topic: string): Promise<void> {
    await this.#commit(async (transaction: Kysely<Tables>) => {
      await transaction
        .deleteFrom('subscriptions')
        .where('account', '=', account)
        .where('base_url', '=', baseUrl)
        .where('topic', '=', topic)
        .execute();
    });
  }

  async reservations(account: string): Promise<readonly StoredReservation[]> {
    return this.#db
      .selectFrom('reservations')
      .select(['topic', 'everyone'])
      .where('account', '=', account)
      .orderBy('topic')
      .execute();
  }

  /** Returns false when another account has reserved the topic. */
  async reserve(account: string, topic: string, everyone: string): Promise<boolean> {
    return this.#commit(async (transaction: Kysely<Tables>) => {
      const rows = await transaction
        .insertInto('reservations')
        .values({ topic, account, everyone })
        .onConflict((conflict) =>
          conflict.column('topic').doUpdateSet({ everyone }).where('reservations.account', '=', account),
        )
        .returning('topic')
        .execute();
      return rows.length > 0;
    });
  }

  /** Returns false when this account has not reserved the topic. */
  async release(account: string, topic: string, withMessages: boolean): Promise<boolean> {
    return this.#commit(async (transaction: Kysely<Tables>) => {
      const released = await transaction
        .deleteFrom('reservations')
        .where('account', '=', account)
        .where('topic', '=', topic)
        .returning('topic')
        .execute();
      if (released.length === 0) return false;
      if (withMessages) await removeNow(transaction, (row) => row('topic', '=', topic));
      return true;
    });
  }

  /** Returns the account that has reserved a topic. */
  async findOwner(topic: string): Promise<string | undefined> {
    const query = this.#db.selectFrom('reservations').select('account').where('topic', '=', topic);
    return (await query.executeTakeFirst())?.account;
  }

  /** Moves the reserved topics of one account to another, which may be a name that keeps the data of a removed one. */
  async moveReservations(from: string, to: string, topics: readonly string[]): Promise<void> {
    await this.#commit(async (transaction: Kysely<Tables>) => {
      for (const topic of topics)
        await transaction
          .updateTable('reservations')
          .set({ account: to })
          .where('account', '=', from)
          .where('topic', '=', topic)
          .execute();
    });
  }

  /** Deletes the preferences, subscriptions and display names of a removed account. */
  async removeAccount(account: string): Promise<void> {
    await this.#commit(async (transaction: Kysely<Tables>) => {
      await transaction.deleteFrom('profiles').where('account', '=', account).execute();
      await transaction.deleteFrom('subscriptions').where('account', '=', account).execute();
      await transaction.deleteFrom('topic_preferences').where('account', '=', account).execute();
    });
  }
}

async function readPreferences(db: Kysely<Tables>, account: string): Promise<Preferences> {
  const row = await db.selectFrom('profiles').select('preferences').where('account', '=', account).executeTakeFirst();
  return row === undefined ? {} : Preferences.parse(JSON.parse(row.preferences));
}
