import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import { removeNow } from './removal.ts';
import { Preferences } from '../wire/account.ts';

interface Tables {
  profiles: { account: string; preferences: string };
  subscriptions: { account: string; base_url: string; topic: string; display_name: string | null; time: number };
  reservations: { topic: string; account: string; everyone: string };
}

/** A topic somewhere that a person's apps show. */
export interface KeptSubscription {
  readonly base_url: string;
  readonly topic: string;
  readonly display_name: string | null;
}

/** A topic that belongs to an account; `everyone` is the peer's word for what all others may do. */
export interface KeptReservation {
  readonly topic: string;
  readonly everyone: string;
}

const mostSubscriptions = 1000;

/** What a person's apps keep in common: preferences, subscribed topics, and the topics that are his own. */
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

  /** Puts what is given in place of what is there, field by field. */
  async prefer(account: string, change: Preferences): Promise<void> {
    await this.#commit(async (transaction: Kysely<Tables>) => {
      const known = await readPreferences(transaction, account);
      const notification = { ...known.notification, ...change.notification };
      const merged = {
        ...known,
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

  async subscriptions(account: string): Promise<readonly KeptSubscription[]> {
    return this.#db
      .selectFrom('subscriptions')
      .select(['base_url', 'topic', 'display_name'])
      .where('account', '=', account)
      .orderBy('time')
      .orderBy('topic')
      .limit(mostSubscriptions)
      .execute();
  }

  /** False when it is there already, or when there are too many. */
  async subscribe(account: string, subscription: KeptSubscription, time: number): Promise<boolean> {
    return this.#commit(async (transaction: Kysely<Tables>) => {
      const { count } = await transaction
        .selectFrom('subscriptions')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('account', '=', account)
        .executeTakeFirstOrThrow();
      if (Number(count) >= mostSubscriptions) return false;
      const added = await transaction
        .insertInto('subscriptions')
        .values({ account, ...subscription, time })
        .onConflict((conflict) => conflict.doNothing())
        .returning('topic')
        .execute();
      return added.length > 0;
    });
  }

  /** False when there is no such subscription. */
  async rename(account: string, { base_url, topic, display_name }: KeptSubscription): Promise<boolean> {
    return this.#commit(async (transaction: Kysely<Tables>) => {
      const changed = await transaction
        .updateTable('subscriptions')
        .set({ display_name })
        .where('account', '=', account)
        .where('base_url', '=', base_url)
        .where('topic', '=', topic)
        .returning('topic')
        .execute();
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

  async reservations(account: string): Promise<readonly KeptReservation[]> {
    return this.#db
      .selectFrom('reservations')
      .select(['topic', 'everyone'])
      .where('account', '=', account)
      .orderBy('topic')
      .execute();
  }

  /** False when the topic is another account's. */
  async reserve(account: string, topic: string, everyone: string): Promise<boolean> {
    return this.#commit(async (transaction: Kysely<Tables>) => {
      const kept = await transaction
        .insertInto('reservations')
        .values({ topic, account, everyone })
        .onConflict((conflict) =>
          conflict.column('topic').doUpdateSet({ everyone }).where('reservations.account', '=', account),
        )
        .returning('topic')
        .execute();
      return kept.length > 0;
    });
  }

  /** False when the topic is not this account's. */
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

  /** Forgets an account that is no more; answers the topics that were its own. */
  async forget(account: string): Promise<readonly string[]> {
    return this.#commit(async (transaction: Kysely<Tables>) => {
      await transaction.deleteFrom('profiles').where('account', '=', account).execute();
      await transaction.deleteFrom('subscriptions').where('account', '=', account).execute();
      const released = await transaction
        .deleteFrom('reservations')
        .where('account', '=', account)
        .returning('topic')
        .execute();
      return released.map(({ topic }) => topic);
    });
  }
}

async function readPreferences(db: Kysely<Tables>, account: string): Promise<Preferences> {
  const row = await db.selectFrom('profiles').select('preferences').where('account', '=', account).executeTakeFirst();
  return row === undefined ? {} : Preferences.parse(JSON.parse(row.preferences));
}
