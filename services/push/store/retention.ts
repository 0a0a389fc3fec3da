import type { Kysely } from 'kysely';
import type { Rule } from '../domain/retention.ts';
import { hidden, removeNow } from './removal.ts';

interface Tables {
  retention: { pattern: string; seconds: number | null; most: number | null };
  retention_progress: { id: number; seq: number };
  messages: { seq: number; id: string; topic: string; time: number; expires: number; text: string };
  attachments: { id: string; expires: number };
}

export interface ExpiringMessage {
  readonly seq: number;
  readonly id: string;
  readonly topic: string;
  readonly time: number;
  readonly expires: number;
  readonly text: string;
}

/** Retention rules and their effect on stored messages. */
export class RetentionStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async rules(): Promise<readonly Rule[]> {
    return this.#db.selectFrom('retention').selectAll().orderBy('pattern').execute();
  }

  /**
   * Replaces the rules and restarts the check of all messages. `generation`, a positive number that no other
   * replacement used, marks the start, so that a check in progress for older rules no longer finds its position.
   */
  async replace(transaction: Kysely<Tables>, rules: readonly Rule[], generation: number): Promise<void> {
    await transaction.deleteFrom('retention').execute();
    if (rules.length > 0) await transaction.insertInto('retention').values(rules).execute();
    await transaction
      .insertInto('retention_progress')
      .values({ id: 1, seq: -generation })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seq: -generation }))
      .execute();
  }

  /** Returns the number of the last message checked; undefined when all were. */
  async checkedUpTo(): Promise<number | undefined> {
    const row = await this.#db.selectFrom('retention_progress').select('seq').where('id', '=', 1).executeTakeFirst();
    return row?.seq;
  }

  /** Saves the position, unless the rules have changed since. */
  async progress(transaction: Kysely<Tables>, from: number, seq: number): Promise<void> {
    await transaction
      .updateTable('retention_progress')
      .set({ seq })
      .where('id', '=', 1)
      .where('seq', '=', from)
      .execute();
  }

  /** Marks the check as complete, unless the rules have changed since. */
  async finish(transaction: Kysely<Tables>, seq: number): Promise<void> {
    await transaction.deleteFrom('retention_progress').where('id', '=', 1).where('seq', '=', seq).execute();
  }

  /** Returns messages after a number, in order. */
  async after(seq: number, limit: number): Promise<readonly ExpiringMessage[]> {
    return this.#db.selectFrom('messages').selectAll().where('seq', '>', seq).orderBy('seq').limit(limit).execute();
  }

  /** Shortens the expiry of messages and their attachments. */
  async shorten(
    transaction: Kysely<Tables>,
    messages: readonly Pick<ExpiringMessage, 'seq' | 'id' | 'expires' | 'text'>[],
  ): Promise<void> {
    for (const { seq, id, expires, text } of messages) {
      await transaction.updateTable('messages').set({ expires, text }).where('seq', '=', seq).execute();
      await transaction
        .updateTable('attachments')
        .set({ expires })
        .where('id', '=', id)
        .where('expires', '>', expires)
        .execute();
    }
  }

  /** Deletes up to `limit` messages of a topic beyond its `maxMessages` newest and returns them. */
  async removeExcess(
    transaction: Kysely<Tables>,
    topic: string,
    maxMessages: number,
    limit: number,
  ): Promise<readonly { readonly seq: number; readonly id: string }[]> {
    const excess = await transaction
      .selectFrom('messages')
      .select('seq')
      .where('topic', '=', topic)
      .where('expires', '>', hidden)
      .orderBy('time', 'desc')
      .orderBy('seq', 'desc')
      .limit(limit)
      .offset(maxMessages)
      .execute();
    if (excess.length === 0) return [];
    const seqs = excess.map(({ seq }) => seq);
    return removeNow(transaction, (row) => row('seq', 'in', seqs));
  }
}
