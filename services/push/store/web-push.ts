import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import { everyTopic } from '../../contracts/push/web-push.ts';

interface Row {
  readonly id: string;
  readonly endpoint: string;
  readonly auth: string;
  readonly p256dh: string;
  /** Null for a visitor, who may read public topics. */
  readonly account: string | null;
  readonly network: string;
  /** Address of this server as used by the browser. */
  readonly base_url: string;
  /** Time of the last renewal by the browser, in ms since the epoch. */
  readonly time: number;
  readonly warned: number;
}

interface Tables {
  web_push: Row;
  web_push_topics: { topic: string; subscription: string };
}

/** Browser that receives messages while its page is closed. */
export type Browser = Omit<Row, 'time' | 'warned'>;

/** Browser of an account. */
export interface AccountBrowser extends Pick<Browser, 'id' | 'base_url'> {
  readonly subscribesTo: (topic: string) => boolean;
}

/** Web push subscriptions of browsers and their topics. */
export class WebPushStore {
  readonly #db: Kysely<Tables>;
  readonly #commit: Context['commit'];

  constructor({ db, commit }: Pick<Context, 'db' | 'commit'>) {
    this.#db = db;
    this.#commit = commit;
  }

  /**
   * Inserts or replaces the subscription of a browser endpoint. Returns false when its account or network already has
   * `maxBrowsers` others.
   */
  async put(browser: Browser, topics: readonly string[], time: number, maxBrowsers: number): Promise<boolean> {
    return this.#commit(async (transaction: Kysely<Tables>) => {
      const { endpoint, auth, p256dh, account, network, base_url } = browser;
      const { count } = await transaction
        .selectFrom('web_push')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('endpoint', '!=', endpoint)
        .$if(account === null, (query) => query.where('account', 'is', null).where('network', '=', network))
        .$if(account !== null, (query) => query.where('account', '=', account))
        .executeTakeFirstOrThrow();
      if (Number(count) >= maxBrowsers) return false;
      const row = { auth, p256dh, account, network, base_url, time, warned: 0 };
      const { id } = await transaction
        .insertInto('web_push')
        .values({ ...row, endpoint, id: browser.id })
        .onConflict((conflict) => conflict.column('endpoint').doUpdateSet(row))
        .returning('id')
        .executeTakeFirstOrThrow();
      await transaction.deleteFrom('web_push_topics').where('subscription', '=', id).execute();
      if (topics.length > 0) {
        const rows = [...new Set(topics)].map((topic) => ({ topic, subscription: id }));
        await transaction.insertInto('web_push_topics').values(rows).execute();
      }
      return true;
    });
  }

  async find(id: string): Promise<Browser | undefined> {
    return this.#db.selectFrom('web_push').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** Returns the browser with this endpoint. */
  async findByEndpoint(endpoint: string): Promise<Browser | undefined> {
    return this.#db.selectFrom('web_push').selectAll().where('endpoint', '=', endpoint).executeTakeFirst();
  }

  /** Returns the topics of the browser with this endpoint. */
  async findTopics(endpoint: string): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('web_push_topics')
      .innerJoin('web_push', 'web_push.id', 'web_push_topics.subscription')
      .select('web_push_topics.topic')
      .where('web_push.endpoint', '=', endpoint)
      .orderBy('web_push_topics.topic')
      .execute();
    return rows.map(({ topic }) => topic);
  }

  /** Returns all topics with a browser subscription. */
  async topics(): Promise<readonly string[]> {
    const rows = await this.#db.selectFrom('web_push_topics').select('topic').distinct().execute();
    return rows.map(({ topic }) => topic);
  }

  /** Returns the browsers that subscribe to a topic or to all topics. */
  async findSubscribers(
    transaction: Kysely<Tables>,
    topic: string,
  ): Promise<readonly Pick<Browser, 'id' | 'base_url' | 'account'>[]> {
    return transaction
      .selectFrom('web_push')
      .innerJoin('web_push_topics', 'web_push_topics.subscription', 'web_push.id')
      .select(['web_push.id', 'web_push.base_url', 'web_push.account'])
      .distinct()
      .where('web_push_topics.topic', 'in', [topic, everyTopic])
      .execute();
  }

  async findByAccount(transaction: Kysely<Tables>, account: string): Promise<readonly AccountBrowser[]> {
    const rows = await transaction
      .selectFrom('web_push')
      .innerJoin('web_push_topics', 'web_push_topics.subscription', 'web_push.id')
      .select(['web_push.id', 'web_push.base_url', 'web_push_topics.topic'])
      .where('web_push.account', '=', account)
      .execute();
    const browsers = Map.groupBy(rows, ({ id }) => id);
    return [...browsers].map(([id, subscriptions]) => {
      const topics = new Set(subscriptions.map(({ topic }) => topic));
      return {
        id,
        base_url: subscriptions[0]?.base_url ?? '',
        subscribesTo: (topic) => topics.has(topic) || topics.has(everyTopic),
      };
    });
  }

  async remove(by: { readonly column: 'id' | 'endpoint' | 'account'; readonly value: string }): Promise<void> {
    await this.#commit(async (transaction: Kysely<Tables>) => {
      const rows = await transaction
        .deleteFrom('web_push')
        .where(`web_push.${by.column}`, '=', by.value)
        .returning('id')
        .execute();
      await removeTopics(transaction, rows);
    });
  }

  /** Deletes browsers that did not renew their subscription since `before`. */
  async removeStale(before: number): Promise<void> {
    await this.#commit(async (transaction: Kysely<Tables>) => {
      const rows = await transaction.deleteFrom('web_push').where('time', '<', before).returning('id').execute();
      await removeTopics(transaction, rows);
    });
  }

  /** Returns browsers that were inactive since `before` and were not warned yet, and marks them as warned. */
  async takeInactive(transaction: Kysely<Tables>, before: number): Promise<readonly string[]> {
    const rows = await transaction
      .updateTable('web_push')
      .set({ warned: 1 })
      .where('time', '<', before)
      .where('warned', '=', 0)
      .returning('id')
      .execute();
    return rows.map(({ id }) => id);
  }
}

async function removeTopics(transaction: Kysely<Tables>, rows: readonly { readonly id: string }[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await transaction.deleteFrom('web_push_topics').where('subscription', 'in', ids).execute();
}
