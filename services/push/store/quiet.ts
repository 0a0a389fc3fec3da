import type { Kysely } from 'kysely';
import { PushRules } from '../../contracts/push/rules.ts';
import type { PushQuiet } from '../../contracts/push/quiet.ts';

interface Tables {
  /** `popups`: 1 for the one whose rules the machine's popups follow. `time`: of the last change, ms since the epoch. */
  quiet_people: { account: string; rules: string; popups: number; time: number };
  quiet_held: HeldMessage;
  quiet_urgent: UrgentMessage;
}

/** A message that waits for the end of somebody's quiet. */
export interface HeldMessage {
  readonly account: string;
  readonly topic: string;
  /** Messages of one sequence count once: the later one takes the earlier one's place. */
  readonly sequence: string;
  /** The identity under which the inbox knows it. */
  readonly key: string;
}

/** A message that comes again until its person acknowledges it. Times are ms since the epoch. */
export interface UrgentMessage extends HeldMessage {
  /** A secret: who knows it may acknowledge. */
  readonly id: string;
  /** The message as JSON. */
  readonly text: string;
  readonly time: number;
  readonly due: number;
}

/** How many messages of a topic wait for somebody. */
export interface HeldTopic {
  readonly account: string;
  readonly topic: string;
  readonly messages: number;
}

/** Urgent messages that come again to one person at most; of further ones each is told once. */
const mostUrgent = 20;

/** People's rules, and what is held back or repeated for them. */
export class QuietStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async people(): Promise<readonly { readonly account: string; readonly quiet: PushQuiet; readonly time: number }[]> {
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

  /** False when as many of this person's already come again. */
  async repeat(transaction: Kysely<Tables>, message: UrgentMessage): Promise<boolean> {
    const { count } = await transaction
      .selectFrom('quiet_urgent')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('account', '=', message.account)
      .executeTakeFirstOrThrow();
    if (Number(count) >= mostUrgent) return false;
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

  /** Forgets what belongs to a sequence: it was cleared, deleted or has a later message. */
  async supersede(transaction: Kysely<Tables>, topic: string, sequence: string): Promise<void> {
    for (const table of ['quiet_held', 'quiet_urgent'] as const) {
      await transaction.deleteFrom(table).where('topic', '=', topic).where('sequence', '=', sequence).execute();
    }
  }

  /** Forgets what was read, by the inbox's keys. */
  async seen(transaction: Kysely<Tables>, keys: readonly string[]): Promise<void> {
    for (const table of ['quiet_held', 'quiet_urgent'] as const) {
      await transaction.deleteFrom(table).where('key', 'in', keys).execute();
    }
  }

  async acknowledge(transaction: Kysely<Tables>, id: string): Promise<void> {
    await transaction.deleteFrom('quiet_urgent').where('id', '=', id).execute();
  }

  /** Forgets an account that is no more. */
  async forget(transaction: Kysely<Tables>, account: string): Promise<void> {
    for (const table of ['quiet_people', 'quiet_held', 'quiet_urgent'] as const) {
      await transaction.deleteFrom(table).where('account', '=', account).execute();
    }
  }

  /** What waits, of everyone or of one person; the topics with the most messages first. */
  async held(account?: string): Promise<readonly HeldTopic[]> {
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

  /** Takes what waits of one topic: whoever takes it is the only one to. Answers how many there were. */
  async take(transaction: Kysely<Tables>, { account, topic }: Pick<HeldTopic, 'account' | 'topic'>): Promise<number> {
    const { numDeletedRows } = await transaction
      .deleteFrom('quiet_held')
      .where('account', '=', account)
      .where('topic', '=', topic)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** What comes again, of everyone or of one person, the next first. */
  async urgent(account?: string): Promise<readonly UrgentMessage[]> {
    return this.#db
      .selectFrom('quiet_urgent')
      .selectAll()
      .$if(account !== undefined, (query) => query.where('account', '=', account ?? ''))
      .orderBy('due')
      .execute();
  }

  /** Moves a message to its next time; false when somebody else did, or when it was acknowledged. */
  async moveOn(transaction: Kysely<Tables>, { id, due }: UrgentMessage, next: number): Promise<boolean> {
    const { numUpdatedRows } = await transaction
      .updateTable('quiet_urgent')
      .set({ due: next })
      .where('id', '=', id)
      .where('due', '=', due)
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows) > 0;
  }
}
