import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../../contracts/service.ts';
import { keptFor, ruleFor, type Rule } from '../domain/retention.ts';
import { readStored } from '../subscribe/envelope.ts';
import type { AlsoStore } from '../publish/write-messages.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import type { MessageStore } from '../store/messages.ts';
import { RetentionStore } from '../store/retention.ts';

/** Messages one commit looks at or removes. */
const batch = 500;
/** Topics whose rule is remembered. */
const mostKnown = 20_000;

export interface RetentionParts {
  readonly context: Pick<Context, 'clock' | 'commit' | 'db'>;
  readonly messages: Pick<MessageStore, 'topics'>;
  readonly attachments: Pick<AttachmentStore, 'remove'>;
  /** Forgets the words of messages that go. */
  readonly forget: (transaction: Context['db'], seqs: readonly number[]) => Promise<void>;
  /** Removes files whose messages are gone. */
  readonly discard: (ids: readonly string[]) => void;
  /** What the setting says, in seconds. */
  readonly otherwise: () => number;
}

/** How long messages are kept, and how many of a topic. */
export class Retention {
  readonly #parts: RetentionParts;
  readonly #store: RetentionStore;
  #rules: readonly Rule[] = [];
  readonly #known = new Map<string, Rule | undefined>();
  /** Topics that may have more messages than their rule lets them. */
  readonly #grown = new Set<string>();

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#store = new RetentionStore(parts.context.db);
  }

  get rules(): readonly Rule[] {
    return this.#rules;
  }

  /** Seconds that a message of this topic is kept; 0: it is not. */
  keptSeconds(topic: string): number {
    return this.#rule(topic)?.seconds ?? this.#parts.otherwise();
  }

  /** Remembers which topics grow. */
  readonly store: AlsoStore = (_transaction, recorded) => {
    for (const { message } of recorded) if (this.#most(message.topic) !== undefined) this.#grown.add(message.topic);
    return Promise.resolve();
  };

  async start(): Promise<void> {
    await this.#read();
    await this.#suspectAll();
  }

  /** Replaces the rules. What is there is gone through at the next {@link upkeep}. */
  async replace(rules: readonly Rule[]): Promise<void> {
    const { clock, commit } = this.#parts.context;
    await commit((transaction) => this.#store.replace(transaction, rules, clock.now()));
    await this.#read();
    await this.#suspectAll();
  }

  /** Call each minute: the rules may have been changed elsewhere; what they are against goes. */
  async upkeep(): Promise<void> {
    await this.#read();
    await this.#shortenAll();
    await this.#removeBeyond();
  }

  async #read(): Promise<void> {
    this.#rules = await this.#store.rules();
    this.#known.clear();
  }

  #rule(topic: string): Rule | undefined {
    if (this.#rules.length === 0) return undefined;
    if (!this.#known.has(topic)) {
      if (this.#known.size >= mostKnown) this.#known.clear();
      this.#known.set(topic, ruleFor(this.#rules, topic));
    }
    return this.#known.get(topic);
  }

  #most(topic: string): number | undefined {
    return this.#rule(topic)?.most ?? undefined;
  }

  async #suspectAll(): Promise<void> {
    if (this.#rules.every(({ most }) => most === null)) return;
    for (const topic of await this.#parts.messages.topics())
      if (this.#most(topic) !== undefined) this.#grown.add(topic);
  }

  /** Goes through messages that were there before the rules; a stop in between loses nothing of it. */
  async #shortenAll(): Promise<void> {
    const { commit } = this.#parts.context;
    for (let reached = await this.#store.reached(); reached !== undefined; reached = await this.#store.reached()) {
      const from = reached;
      const rows = await this.#store.after(from, batch);
      const shorter = rows.flatMap((row) => {
        const kept = this.keptSeconds(row.topic);
        const expires = row.time + kept;
        if (row.expires <= expires) return [];
        const message = keptFor(readStored(row.text), Math.max(kept, 1));
        return [{ seq: row.seq, id: row.id, expires, text: JSON.stringify(message) }];
      });
      const last = rows.at(-1)?.seq;
      await commit(async (transaction) => {
        await this.#store.shorten(transaction, shorter);
        if (last === undefined) await this.#store.finish(transaction, from);
        else await this.#store.progress(transaction, from, last);
      });
      await nextTurn();
    }
  }

  async #removeBeyond(): Promise<void> {
    const { context, attachments, forget, discard } = this.#parts;
    for (const topic of [...this.#grown]) {
      this.#grown.delete(topic);
      const most = this.#most(topic);
      if (most === undefined) continue;
      for (let removed = batch; removed === batch;) {
        const gone = await context.commit(async (transaction) => {
          const rows = await this.#store.removeBeyond(transaction, topic, most, batch);
          await forget(
            transaction,
            rows.map(({ seq }) => seq),
          );
          await attachments.remove(
            transaction,
            rows.map(({ id }) => id),
          );
          return rows;
        });
        discard(gone.map(({ id }) => id));
        removed = gone.length;
        await nextTurn();
      }
    }
  }
}
