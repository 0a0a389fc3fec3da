import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Identity } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import { matchesPattern } from '../domain/topics.ts';
import type { Message } from '../domain/message.ts';
import { defaultPriority } from '../domain/priority.ts';
import { foldTerms, parseSearch, type Phrase } from '../../kit/search-words.ts';
import { readStored } from '../subscribe/envelope.ts';
import type { Recorded } from '../publish/write-messages.ts';
import { SearchStore, type Indexed } from '../store/search.ts';
import { wordsOf } from './words-of.ts';

/** What somebody asks the history for. Times in unix seconds. */
export interface Question {
  readonly words: string;
  /** A topic pattern; empty: all. */
  readonly topic: string;
  /** This or a higher one. */
  readonly priority: number;
  readonly tag: string;
  readonly since: number;
  readonly until: number;
  /** Messages stored before this one. */
  readonly before: number;
  readonly limit: number;
}

export interface Findings {
  readonly found: readonly { readonly seq: number; readonly message: Message }[];
  /** What to go on with; undefined at the end. */
  readonly next: number | undefined;
}

/** Messages one statement looks at, so that no statement holds up the others. */
const stretch = 10_000;
/** Stretches that one question looks through at most. */
const mostStretches = 100;
/** Messages that are read for one question at most: those that a filter throws out cost a look too. */
const mostRead = 5000;
/** Topics that are named in a statement; with more of them each message is looked at. */
const mostNamed = 500;
const page = 200;

/** Full-text search over the cached messages. */
export class Search {
  readonly #context: Pick<Context, 'accounts' | 'clock'>;
  readonly #store: SearchStore;

  constructor(context: Pick<Context, 'accounts' | 'clock' | 'reads'>) {
    this.#context = context;
    this.#store = new SearchStore(context.reads);
  }

  /** Keeps the words of messages in their transaction; what was replaced or deleted by its sender is found no more. */
  readonly store = async (
    transaction: Context['db'],
    recorded: readonly Pick<Recorded, 'message'>[],
    seqs: ReadonlyMap<string, number>,
  ): Promise<void> => {
    const added = new Map<number, Indexed>();
    const sequences: { seq: number; topic: string; sequence: string }[] = [];
    const gone: number[] = [];
    for (const { message } of recorded) {
      const seq = seqs.get(message.id);
      const { topic, sequence_id: sequence } = message;
      if (sequence !== undefined && message.event !== 'message_clear') {
        gone.push(...(await this.#store.ofSequence(transaction, topic, sequence)));
        for (const each of sequences) if (each.topic === topic && each.sequence === sequence) gone.push(each.seq);
      }
      if (seq === undefined || message.event !== 'message') continue;
      added.set(seq, { seq, words: wordsOf(message) });
      if (sequence !== undefined) sequences.push({ seq, topic, sequence });
    }
    const own = new Set(added.keys());
    for (const seq of gone) if (sequences.some((each) => each.seq === seq)) added.delete(seq);
    await this.#store.remove(
      transaction,
      gone.filter((seq) => !own.has(seq)),
    );
    await this.#store.add(transaction, [...added.values()]);
    await this.#store.addSequences(transaction, sequences);
  };

  /** Forgets messages that are removed, in the transaction that removes them. */
  remove(transaction: Context['db'], seqs: readonly number[]): Promise<void> {
    return this.#store.remove(transaction, seqs);
  }

  /** What an identity may read of what it asks for, the newest first. A page may hold fewer than asked for, and go on. */
  async ask(identity: Identity, question: Question): Promise<Findings> {
    const phrases = phrasesOf(question);
    const bounds = await this.#store.bounds();
    if (bounds === undefined || phrases === undefined) return { found: [], next: undefined };
    const topics = await this.#topics(identity, question.topic);
    if (topics?.size === 0) return { found: [], next: undefined };
    const named = topics !== undefined && topics.size <= mostNamed ? [...topics] : undefined;
    const now = Math.floor(this.#context.clock.now() / 1000);
    const { since, until, limit } = question;
    const found: { seq: number; message: Message }[] = [];
    let before = Math.min(question.before, bounds.last + 1);
    let read = 0;
    for (let turn = 0; turn < mostStretches && before > bounds.first; turn += 1) {
      const from = Math.max(before - stretch - 1, bounds.first - 1);
      const rows = await this.#store.find({ phrases, from, before, topics: named, since, until, now, limit: page });
      for (const { seq, text } of rows) {
        before = seq;
        const message = readStored(text);
        if ((topics === undefined || topics.has(message.topic)) && fits(message, question))
          found.push({ seq, message });
        if (found.length === limit) return { found, next: seq };
      }
      read += rows.length;
      if (rows.length < page) before = from + 1;
      if (read >= mostRead) break;
      await nextTurn();
    }
    return { found, next: before > bounds.first ? before : undefined };
  }

  /** The topics of the pattern that an identity may read; undefined: all there are. */
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

/** Undefined when there are words, but none that could be found. */
function phrasesOf({ words, tag }: Question): readonly Phrase[] | undefined {
  const phrases = parseSearch(words);
  if (phrases.length === 0 && words.trim() !== '') return undefined;
  const tagged = foldTerms(tag);
  // A tag is among the words too, which spares a look at most messages without it.
  return tagged.length === 0 ? phrases : [...phrases, { words: tagged, prefix: false }];
}

function fits({ event, priority = defaultPriority, tags }: Message, question: Question): boolean {
  return (
    event === 'message' &&
    priority >= question.priority &&
    (question.tag === '' || tags?.includes(question.tag) === true)
  );
}
