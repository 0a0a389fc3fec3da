import * as m from '#messages/push-problems';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import { TopicSound, type TopicPreferences } from '../../contracts/push/topic-preferences.ts';
import type { Context } from '../../contracts/service.ts';

interface Tables {
  /** `display_name` is empty for none. */
  topic_preferences: { account: string; topic: string; display_name: string; sound: string };
  subscriptions: { account: string; topic: string; display_name: string | null; own: number };
}

/** Maximum number of topics with preferences of one account. */
const maxTopics = 1000;

/** Display names and sounds of topics by account. */
export class TopicPreferenceStore {
  readonly #db: Kysely<Tables>;
  readonly #commit: Context['commit'];

  constructor({ db, commit }: Pick<Context, 'db' | 'commit'>) {
    this.#db = db;
    this.#commit = commit;
  }

  async list(account: string): Promise<readonly TopicPreferences[]> {
    const rows = await this.#db
      .selectFrom('topic_preferences')
      .selectAll()
      .where('account', '=', account)
      .orderBy('topic')
      .limit(maxTopics)
      .execute();
    return rows.map(toPreferences);
  }

  /**
   * Stores the preferences, and the display name in the subscriptions of ntfy apps to the topic on this server.
   * @throws Problem `push.too_many_preferences` (409)
   */
  async set(account: string, { topic, displayName, sound }: TopicPreferences): Promise<void> {
    await this.#commit(async (transaction: Kysely<Tables>) => {
      if (!(await store(transaction, { account, topic }, { display_name: displayName, sound })))
        throw new Problem('push.too_many_preferences', 409, m.tooManyTopicPreferences({ count: maxTopics }));
      await transaction
        .updateTable('subscriptions')
        .set({ display_name: displayName === '' ? null : displayName })
        .where('account', '=', account)
        .where('topic', '=', topic)
        .where('own', '=', 1)
        .execute();
    });
  }

  /** Returns the preferences of several accounts for a topic, by account. */
  async listForTopic(
    transaction: Kysely<Tables>,
    topic: string,
    accounts: readonly string[],
  ): Promise<ReadonlyMap<string, TopicPreferences>> {
    if (accounts.length === 0) return new Map();
    const rows = await transaction
      .selectFrom('topic_preferences')
      .selectAll()
      .where('topic', '=', topic)
      .where('account', 'in', accounts)
      .execute();
    return new Map(rows.map((row) => [row.account, toPreferences(row)]));
  }
}

/** Returns the display name that an account has set for a topic; null for none. */
export async function findDisplayName(db: Kysely<any>, account: string, topic: string): Promise<string | null> {
  const row = await (db as Kysely<Tables>)
    .selectFrom('topic_preferences')
    .select('display_name')
    .where('account', '=', account)
    .where('topic', '=', topic)
    .executeTakeFirst();
  return row === undefined || row.display_name === '' ? null : row.display_name;
}

/** Stores the display name that an app of ntfy has set, and keeps the sound. Names of too many topics are ignored. */
export async function storeDisplayName(
  transaction: Kysely<any>,
  { displayName, ...key }: { readonly account: string; readonly topic: string; readonly displayName: string },
): Promise<void> {
  await store(transaction as Kysely<Tables>, key, { display_name: displayName });
}

/** Stores values of a topic. Returns false when the account has preferences for too many others. */
async function store(
  transaction: Kysely<Tables>,
  { account, topic }: { readonly account: string; readonly topic: string },
  values: { readonly display_name: string; readonly sound?: TopicSound },
): Promise<boolean> {
  const { count } = await transaction
    .selectFrom('topic_preferences')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account', '=', account)
    .where('topic', '!=', topic)
    .executeTakeFirstOrThrow();
  if (Number(count) >= maxTopics) return false;
  await transaction
    .insertInto('topic_preferences')
    .values({ account, topic, sound: 'default', ...values })
    .onConflict((conflict) => conflict.columns(['account', 'topic']).doUpdateSet(values))
    .execute();
  // Only topics with a preference count.
  await transaction
    .deleteFrom('topic_preferences')
    .where('account', '=', account)
    .where('topic', '=', topic)
    .where('display_name', '=', '')
    .where('sound', '=', 'default')
    .execute();
  return true;
}

function toPreferences({ topic, display_name, sound }: Tables['topic_preferences']): TopicPreferences {
  // A later version may have stored a sound that this one does not have.
  return { topic, displayName: display_name, sound: TopicSound.catch('default').parse(sound) };
}
