import type { Kysely } from 'kysely';
import type { Rule } from '../domain/retention.ts';
import { hidden, removeNow } from './removal.ts';

interface Tables {
  retention: { pattern: string; seconds: number | null; most: number | null };
  retention_progress: { id: number; seq: number };
  messages: { seq: number; id: string; topic: string; time: number; expires: number; text: string };
  attachments: { id: string; expires: number };
}

export interface KeptMessage {
  readonly seq: number;
  readonly id: string;
  readonly topic: string;
  readonly time: number;
  readonly expires: number;
  readonly text: string;
}

/** Rules about how long messages are kept, and what they do to messages that are there. */
export class RetentionStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async rules(): Promise<readonly Rule[]> {
    return this.#db.selectFrom('retention').selectAll().orderBy('pattern').execute();
  }

  /**
   * Replaces the rules; all messages are to be gone through after that. `turn`, a number above 0 that no other replacement
   * had, is where that begins: who is still going through them for older rules will not find its own place any more.
   */
  async replace(transaction: Kysely<Tables>, rules: readonly Rule[], turn: number): Promise<void> {
    await transaction.deleteFrom('retention').execute();
    if (rules.length > 0) await transaction.insertInto('retention').values(rules).execute();
    await transaction
      .insertInto('retention_progress')
      .values({ id: 1, seq: -turn })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seq: -turn }))
      .execute();
  }

  /** Messages up to this one have been gone through; undefined when all have. */
  async reached(): Promise<number | undefined> {
    const row = await this.#db.selectFrom('retention_progress').select('seq').where('id', '=', 1).executeTakeFirst();
    return row?.seq;
  }

  /** Goes on from one place to the next, unless the rules have changed since. */
  async progress(transaction: Kysely<Tables>, from: number, seq: number): Promise<void> {
    await transaction
      .updateTable('retention_progress')
      .set({ seq })
      .where('id', '=', 1)
      .where('seq', '=', from)
      .execute();
  }

  /** All have been gone through, unless the rules have changed since. */
  async finish(transaction: Kysely<Tables>, seq: number): Promise<void> {
    await transaction.deleteFrom('retention_progress').where('id', '=', 1).where('seq', '=', seq).execute();
  }

  /** Messages after this one, in the order of their numbers. */
  async after(seq: number, limit: number): Promise<readonly KeptMessage[]> {
    return this.#db.selectFrom('messages').selectAll().where('seq', '>', seq).orderBy('seq').limit(limit).execute();
  }

  /** Lets messages expire earlier, their files with them. */
  async shorten(
    transaction: Kysely<Tables>,
    messages: readonly Pick<KeptMessage, 'seq' | 'id' | 'expires' | 'text'>[],
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

  /** Removes up to `limit` messages of a topic beyond its `most` newest; answers those that went. */
  async removeBeyond(
    transaction: Kysely<Tables>,
    topic: string,
    most: number,
    limit: number,
  ): Promise<readonly { readonly seq: number; readonly id: string }[]> {
    const beyond = await transaction
      .selectFrom('messages')
      .select('seq')
      .where('topic', '=', topic)
      .where('expires', '>', hidden)
      .orderBy('time', 'desc')
      .orderBy('seq', 'desc')
      .limit(limit)
      .offset(most)
      .execute();
    if (beyond.length === 0) return [];
    const seqs = beyond.map(({ seq }) => seq);
    return removeNow(transaction, (row) => row('seq', 'in', seqs));
  }
}
