import type { Kysely } from 'kysely';
import { PushRules } from '../../contracts/push/rules.ts';
import type { PushQuiet } from '../../contracts/push/quiet.ts';

interface Tables {
  /**
   * `popups` is 1 for the account whose rules apply to popups of this computer. `time`: last change, ms since the
   * epoch.
   */
  quiet_people: { account: string; rules: string; popups: number; time: number };
  quiet_held: HeldMessage;
  quiet_urgent: UrgentMessage;
}

/** Message held back until the end of an account's quiet hours. */
export interface HeldMessage {
  readonly account: string;
  readonly topic: string;
  /** A later message of the same sequence replaces the earlier one. */
  readonly sequence: string;
  /** Key of the message in the inbox. */
  readonly key: string;
}

/** Urgent message that is repeated until the account acknowledges it. Times are ms since the epoch. */
export interface UrgentMessage extends HeldMessage {
  /** Secret that authorizes the acknowledgment. */
  readonly id: string;
  /** Message as JSON. */
  readonly text: string;
  readonly time: number;
  readonly due: number;
}

/** Number of messages of a topic that are held back for an account. */
export interface HeldTopic {
  readonly account: string;
  readonly topic: string;
  readonly messages: number;
}

/** Maximum number of urgent messages repeated to one account; further ones are sent once. */
const maxUrgentPerAccount = 20;

/** Quiet-hours rules of accounts, held messages and repeated urgent messages. */
export class QuietStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async accountRules(): Promise<
    readonly { readonly account: string; readonly quiet: PushQuiet; readonly time: number }[]
  > {
    const rows = await this.#db.selectFrom('quiet_people').selectAll().execute();
    return rows.map(({ account, rules, popups, time }) => ({
      account,
      quiet: { ...PushRules.parse(JSON.parse(rules)), popups: popups === 1 },
      time,
    }));
  }

  async put(transaction: Kysely<Tables>, account: string, quiet: PushQuiet, time: number): Promise<void> {
    const { popups, ...rules } = quiet;
    if (popups) await transaction.updateTable('quiet_people').set({ popups: 0 }).execute();
    const row = { rules: JSON.stringify(rules), popups: popups ? 1 : 0, time };
    await transaction
      .insertInto('quiet_people')
      .values({ account, ...row })
      .onConflict((conflict) => conflict.column('account').doUpdateSet(row))
      .execute();
  }

  async hold(transaction: Kysely<Tables>, messages: readonly HeldMessage[]): Promise<void> {
    for (const message of messages) {
      await transaction
        .insertInto('quiet_held')
        .values(message)
        .onConflict((conflict) => conflict.columns(['account', 'topic', 'sequence']).doUpdateSet({ key: message.key }))
        .execute();
    }
  }

  /** Returns false when the account already has the maximum number of repeated messages. */
  async repeat(transaction: Kysely<Tables>, message: UrgentMessage): Promise<boolean> {
    const { count } = await transaction
      .selectFrom('quiet_urgent')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('account', '=', message.account)
      .executeTakeFirstOrThrow();
    if (Number(count) >= maxUrgentPerAccount) return false;
    const { id, key, text, time, due } = message;
    await transaction
      .insertInto('quiet_urgent')
      .values(message)
      .onConflict((conflict) =>
        conflict.columns(['account', 'topic', 'sequence']).doUpdateSet({ id, key, text, time, due }),
      )
      .execute();
    return true;
  }

  /** Deletes held and repeated messages of a sequence that was cleared, deleted or updated. */
  async supersede(transaction: Kysely<Tables>, topic: string, sequence: string): Promise<void> {
    for (const table of ['quiet_held', 'quiet_urgent'] as const) {
      await transaction.deleteFrom(table).where('topic', '=', topic).where('sequence', '=', sequence).execute();
    }
  }

  /** Deletes messages that were read, by inbox key. */
  async removeRead(transaction: Kysely<Tables>, keys: readonly string[]): Promise<void> {
    for (const table of ['quiet_held', 'quiet_urgent'] as const) {
      await transaction.deleteFrom(table).where('key', 'in', keys).execute();
    }
  }

  async acknowledge(transaction: Kysely<Tables>, id: string): Promise<void> {
    await transaction.deleteFrom('quiet_urgent').where('id', '=', id).execute();
  }

  /** Deletes the data of a deleted account. */
  async removeAccount(transaction: Kysely<Tables>, account: string): Promise<void> {
    for (const table of ['quiet_people', 'quiet_held', 'quiet_urgent'] as const) {
      await transaction.deleteFrom(table).where('account', '=', account).execute();
    }
  }

  /** Returns the held messages of all accounts or of one, topics with the most messages first. */
  async heldTopics(account?: string): Promise<readonly HeldTopic[]> {
    const rows = await this.#db
      .selectFrom('quiet_held')
      .select(({ fn }) => ['account', 'topic', fn.countAll<number>().as('messages')])
      .$if(account !== undefined, (query) => query.where('account', '=', account ?? ''))
      .groupBy(['account', 'topic'])
      .execute();
    return rows
      .map((row) => ({ ...row, messages: Number(row.messages) }))
      .sort((a, b) => b.messages - a.messages || (a.topic < b.topic ? -1 : 1));
  }

  /** Removes the held messages of a topic and returns their number. Only one caller receives them. */
  async takeHeld(
    transaction: Kysely<Tables>,
    { account, topic }: Pick<HeldTopic, 'account' | 'topic'>,
  ): Promise<number> {
    const { numDeletedRows } = await transaction
      .deleteFrom('quiet_held')
      .where('account', '=', account)
      .where('topic', '=', topic)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** Returns the repeated messages of all accounts or of one, the next due first. */
  async urgent(account?: string): Promise<readonly UrgentMessage[]> {
    return this.#db
      .selectFrom('quiet_urgent')
      .selectAll()
      .$if(account !== undefined, (query) => query.where('account', '=', account ?? ''))
      .orderBy('due')
      .execute();
  }

  /** Moves a message to its next repetition. Returns false when another host did so or it was acknowledged. */
  async reschedule(transaction: Kysely<Tables>, { id, due }: UrgentMessage, next: number): Promise<boolean> {
    const { numUpdatedRows } = await transaction
      .updateTable('quiet_urgent')
      .set({ due: next })
      .where('id', '=', id)
      .where('due', '=', due)
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows) > 0;
  }
}
