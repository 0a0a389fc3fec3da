import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Identity } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import { matchesPattern } from '../domain/topics.ts';
import type { Message } from '../domain/message.ts';
import { defaultPriority } from '../domain/priority.ts';
import { foldTerms, parseSearch, type Phrase } from '../../kit/search-terms.ts';
import { parseStoredMessage } from '../domain/stored-message.ts';
import type { Recorded } from '../messages/write-messages.ts';
import { SearchStore, type IndexEntry } from '../store/search.ts';
import { toSearchWords } from '../domain/search-terms.ts';

/** Search request over the message history. Times are unix seconds. */
export interface SearchRequest {
  readonly words: string;
  /** Topic pattern; empty for all topics. */
  readonly topic: string;
  /** Minimum priority. */
  readonly priority: number;
  readonly tag: string;
  readonly since: number;
  readonly until: number;
  /** Only messages stored before the one with this number. */
  readonly before: number;
  readonly limit: number;
}

export interface SearchResult {
  readonly messages: readonly { readonly seq: number; readonly message: Message }[];
  /** Position at which the next page begins; undefined on the last page. */
  readonly next: number | undefined;
}

/** Number of messages that one statement scans, which keeps the time of each statement short. */
const scanSize = 10_000;
/** Maximum number of statements for one search. */
const maxScans = 100;
/** Maximum number of messages that one search reads, including those that a filter excludes. */
const maxMessagesRead = 5000;
/** Maximum number of topics listed in a statement; with more, each message is filtered after it is read. */
const maxListedTopics = 500;
const pageSize = 200;

/** Full-text search over cached messages. */
export class Search {
  readonly #context: Pick<Context, 'accounts' | 'clock'>;
  readonly #store: SearchStore;

  constructor(context: Pick<Context, 'accounts' | 'clock' | 'reads'>) {
    this.#context = context;
    this.#store = new SearchStore(context.reads);
  }

  /**
   * Indexes messages in the transaction that stores them. Messages that were replaced or deleted by their sender are
   * removed from the index.
   */
  readonly store = async (
    transaction: Context['db'],
    recorded: readonly Pick<Recorded, 'message'>[],
    seqs: ReadonlyMap<string, number>,
  ): Promise<void> => {
    const added = new Map<number, IndexEntry>();
    const sequences: { seq: number; topic: string; sequence: string }[] = [];
    const superseded: number[] = [];
    for (const { message } of recorded) {
      const seq = seqs.get(message.id);
      const { topic, sequence_id: sequence } = message;
      if (sequence !== undefined && message.event !== 'message_clear') {
        superseded.push(...(await this.#store.findBySequence(transaction, topic, sequence)));
        for (const entry of sequences)
          if (entry.topic === topic && entry.sequence === sequence) superseded.push(entry.seq);
      }
      if (seq === undefined || message.event !== 'message') continue;
      added.set(seq, { seq, words: toSearchWords(message) });
      if (sequence !== undefined) sequences.push({ seq, topic, sequence });
    }
    const addedSeqs = new Set(added.keys());
    for (const seq of superseded) if (sequences.some((entry) => entry.seq === seq)) added.delete(seq);
    await this.#store.remove(
      transaction,
      superseded.filter((seq) => !addedSeqs.has(seq)),
    );
    await this.#store.add(transaction, [...added.values()]);
    await this.#store.addSequences(transaction, sequences);
  };

  /** Removes deleted messages from the index, in the transaction that deletes them. */
  remove(transaction: Context['db'], seqs: readonly number[]): Promise<void> {
    return this.#store.remove(transaction, seqs);
  }

  /**
   * Returns the matching messages that the identity may read, newest first. A page may hold fewer messages than the
   * limit although more follow.
   */
  async search(identity: Identity, request: SearchRequest): Promise<SearchResult> {
    const phrases = toPhrases(request);
    const bounds = await this.#store.bounds();
    if (bounds === undefined || phrases === undefined) return { messages: [], next: undefined };
    const topics = await this.#topics(identity, request.topic);
    if (topics?.size === 0) return { messages: [], next: undefined };
    const listedTopics = topics !== undefined && topics.size <= maxListedTopics ? [...topics] : undefined;
    const now = Math.floor(this.#context.clock.now() / 1000);
    const { since, until, limit } = request;
    const messages: { seq: number; message: Message }[] = [];
    let before = Math.min(request.before, bounds.last + 1);
    let read = 0;
    for (let scan = 0; scan < maxScans && before > bounds.first; scan += 1) {
      const from = Math.max(before - scanSize - 1, bounds.first - 1);
      const rows = await this.#store.find({
        phrases,
        from,
        before,
        topics: listedTopics,
        since,
        until,
        now,
        limit: pageSize,
      });
      for (const { seq, text } of rows) {
        before = seq;
        const message = parseStoredMessage(text);
        if ((topics === undefined || topics.has(message.topic)) && matchesFilters(message, request))
          messages.push({ seq, message });
        if (messages.length === limit) return { messages, next: seq };
      }
      read += rows.length;
      if (rows.length < pageSize) before = from + 1;
      if (read >= maxMessagesRead) break;
      await nextTurn();
    }
    return { messages, next: before > bounds.first ? before : undefined };
  }

  /** Returns the topics that match the pattern and that the identity may read; undefined when all topics match. */
  async #topics(identity: Identity, pattern: string): Promise<ReadonlySet<string> | undefined> {
    if (identity.role === 'admin' && pattern === '') return undefined;
    const { accounts } = this.#context;
    const topics = await this.#store.topics();
    return new Set(
      topics.filter(
        (topic) => (pattern === '' || matchesPattern(pattern, topic)) && accounts.may(identity, 'push', 'read', topic),
      ),
    );
  }
}

/** Returns undefined when the input contains words but none that can be indexed. */
function toPhrases({ words, tag }: SearchRequest): readonly Phrase[] | undefined {
  const phrases = parseSearch(words);
  if (phrases.length === 0 && words.trim() !== '') return undefined;
  const tagWords = foldTerms(tag);
  // Tags are indexed as words too, so this excludes most messages without the tag early.
  return tagWords.length === 0 ? phrases : [...phrases, { words: tagWords, prefix: false }];
}

function matchesFilters({ event, priority = defaultPriority, tags }: Message, request: SearchRequest): boolean {
  return (
    event === 'message' && priority >= request.priority && (request.tag === '' || tags?.includes(request.tag) === true)
  );
}
