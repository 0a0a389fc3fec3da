import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../../contracts/service.ts';
import { withMaxRetention, findRule, type Rule } from '../domain/retention.ts';
import { parseStoredMessage } from '../domain/stored-message.ts';
import { CachedRows } from '../../kit/cached-rows.ts';
import type { WriteHook } from '../messages/write-messages.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import type { MessageStore } from '../store/messages.ts';
import { RetentionStore } from '../store/retention.ts';

/** Maximum number of messages that one commit reads or deletes. */
const batchSize = 500;
/** Maximum number of topics whose rule is cached. */
const maxCachedTopics = 20_000;

export interface RetentionDependencies {
  readonly context: Pick<Context, 'bus' | 'clock' | 'commit' | 'db' | 'log'>;
  readonly messages: Pick<MessageStore, 'topics'>;
  readonly attachments: Pick<AttachmentStore, 'remove'>;
  /** Deletes the messages from the search index. */
  readonly removeFromSearch: (transaction: Context['db'], seqs: readonly number[]) => Promise<void>;
  /** Deletes the files of deleted messages. */
  readonly deleteFiles: (ids: readonly string[]) => void;
  /** Returns the retention of topics without a rule, in seconds. */
  readonly defaultSeconds: () => number;
}

/** Applies the retention rules: how long messages are kept and how many of a topic. */
export class Retention {
  readonly #dependencies: RetentionDependencies;
  readonly #store: RetentionStore;
  readonly #cachedRows: CachedRows;
  #rules: readonly Rule[] = [];
  readonly #ruleCache = new Map<string, Rule | undefined>();
  /** Topics that may have more messages than their rule allows. */
  readonly #topicsToTrim = new Set<string>();

  constructor(dependencies: RetentionDependencies) {
    this.#dependencies = dependencies;
    this.#store = new RetentionStore(dependencies.context.db);
    const { bus, log } = dependencies.context;
    this.#cachedRows = new CachedRows({ bus, log, rows: 'push.retention', reload: () => this.#read() });
  }

  get rules(): readonly Rule[] {
    return this.#rules;
  }

  /** Returns the number of seconds that messages of a topic are kept; 0 when they are not cached. */
  keptSeconds(topic: string): number {
    return this.#rule(topic)?.seconds ?? this.#dependencies.defaultSeconds();
  }

  /** Remembers the topics that received messages and have a maximum number of messages. */
  readonly store: WriteHook = (_transaction, recorded) => {
    for (const { message } of recorded)
      if (this.#maxMessages(message.topic) !== undefined) this.#topicsToTrim.add(message.topic);
    return Promise.resolve();
  };

  async start(): Promise<Disposable> {
    const following = this.#cachedRows.follow();
    await this.#read();
    await this.#checkAllTopics();
    return following;
  }

  /** Replaces the rules. The next {@link upkeep} applies them to stored messages. */
  async replace(rules: readonly Rule[]): Promise<void> {
    const { clock, commit } = this.#dependencies.context;
    await commit((transaction) => this.#store.replace(transaction, rules, clock.now()));
    this.#cachedRows.changed();
    await this.#read();
    await this.#checkAllTopics();
  }

  /**
   * Reloads the rules, which another host may have changed, and deletes the messages that exceed them. Called every
   * minute.
   */
  async upkeep(): Promise<void> {
    await this.#read();
    await this.#shortenStored();
    await this.#removeExcess();
  }

  async #read(): Promise<void> {
    this.#rules = await this.#store.rules();
    this.#ruleCache.clear();
  }

  #rule(topic: string): Rule | undefined {
    if (this.#rules.length === 0) return undefined;
    if (!this.#ruleCache.has(topic)) {
      if (this.#ruleCache.size >= maxCachedTopics) this.#ruleCache.clear();
      this.#ruleCache.set(topic, findRule(this.#rules, topic));
    }
    return this.#ruleCache.get(topic);
  }

  #maxMessages(topic: string): number | undefined {
    return this.#rule(topic)?.most ?? undefined;
  }

  async #checkAllTopics(): Promise<void> {
    if (this.#rules.every(({ most: maxMessages }) => maxMessages === null)) return;
    for (const topic of await this.#dependencies.messages.topics())
      if (this.#maxMessages(topic) !== undefined) this.#topicsToTrim.add(topic);
  }

  /**
   * Applies shorter retention to messages that were stored before the rules changed. Progress is saved, so an
   * interrupted run continues later.
   */
  async #shortenStored(): Promise<void> {
    const { commit } = this.#dependencies.context;
    for (
      let position = await this.#store.checkedUpTo();
      position !== undefined;
      position = await this.#store.checkedUpTo()
    ) {
      const from = position;
      const rows = await this.#store.after(from, batchSize);
      const shorter = rows.flatMap((row) => {
        const seconds = this.keptSeconds(row.topic);
        const expires = row.time + seconds;
        if (row.expires <= expires) return [];
        const message = withMaxRetention(parseStoredMessage(row.text), Math.max(seconds, 1));
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

  async #removeExcess(): Promise<void> {
    const { context, attachments, removeFromSearch, deleteFiles } = this.#dependencies;
    for (const topic of [...this.#topicsToTrim]) {
      this.#topicsToTrim.delete(topic);
      const maximum = this.#maxMessages(topic);
      if (maximum === undefined) continue;
      for (let removed = batchSize; removed === batchSize;) {
        const deleted = await context.commit(async (transaction) => {
          const rows = await this.#store.removeExcess(transaction, topic, maximum, batchSize);
          await removeFromSearch(
            transaction,
            rows.map(({ seq }) => seq),
          );
          await attachments.remove(
            transaction,
            rows.map(({ id }) => id),
          );
          return rows;
        });
        deleteFiles(deleted.map(({ id }) => id));
        removed = deleted.length;
        await nextTurn();
      }
    }
  }
}
