import { setImmediate as nextTurn } from 'node:timers/promises';
import { Problem } from '../contracts/problem.ts';
import { pushPublished } from '../contracts/push.ts';
import type { Context } from '../contracts/service.ts';
import { compose, type Draft, type Message } from './domain/message.ts';
import { defaultPriority } from './domain/priority.ts';
import { refuse } from './domain/refusals.ts';
import { inboxEntry, inboxJobs, toInbox, type InboxEntry } from './inbox-copy.ts';
import { Envelope } from './live/envelope.ts';
import type { MessageStore } from './store/messages.ts';

interface Waiting {
  readonly envelope: Envelope;
  readonly expires: number;
  readonly entry: InboxEntry | undefined;
  /** Set for offers: a key that was taken before makes it void. */
  readonly key: string | undefined;
  readonly resolve: (envelope: Envelope | undefined) => void;
  readonly reject: (error: unknown) => void;
}

type AlsoStore = (transaction: Context['db'], messages: readonly Message[]) => Promise<void>;

/** Messages one commit takes at most. */
const largestBatch = 200;
/** The peer's command line client reads lines of 64 KiB and no longer ones. */
const longestLine = 65_000;

/**
 * Takes drafts, commits those that came together as one, tells their publishers, and only then passes them on to
 * whoever listens.
 */
export class Publisher {
  readonly #context: Context;
  readonly #store: MessageStore;
  readonly #settings: { readonly cacheSeconds: number; readonly keepInInbox: boolean };
  readonly #onPublished: (envelopes: readonly Envelope[]) => Promise<void>;
  readonly #alsoStore: AlsoStore;
  readonly #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #closed = false;
  #healthy = true;

  constructor(
    context: Context,
    store: MessageStore,
    settings: { readonly cacheSeconds: number; readonly keepInInbox: boolean },
    /** Passes messages on; the next commit waits for it. */
    onPublished: (envelopes: readonly Envelope[]) => Promise<void>,
    /** Writes what else is to be there with the messages, in their transaction. */
    alsoStore: AlsoStore,
  ) {
    this.#alsoStore = alsoStore;
    this.#context = context;
    this.#store = store;
    this.#settings = settings;
    this.#onPublished = onPublished;
  }

  /** False while messages cannot be stored. */
  get healthy(): boolean {
    return this.#healthy;
  }

  /**
   * Resolves once the message is committed; undefined when `key` was taken before.
   *
   * @throws Problem 40000 for one that no client could read, `push.stopping` (503), and the database's.
   */
  publish(draft: Draft, key?: string): Promise<Envelope | undefined> {
    const { clock, random } = this.#context;
    const time = Math.floor(clock.now() / 1000);
    const expires = time + this.#settings.cacheSeconds;
    const message = compose(draft, { id: random.text(12), time, expires });
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > longestLine) {
      return Promise.reject(refuse('invalid', 'the message as a whole is too large'));
    }
    if (this.#closed) return Promise.reject(new Problem('push.stopping', 503, 'the server is stopping'));
    const entry = this.#settings.keepInInbox ? inboxEntry(draft, message) : undefined;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ envelope: new Envelope(message, text), expires, entry, key, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** Something else was stored since messages could not be. */
  recovered(): void {
    this.#healthy = true;
  }

  /** Refuses new messages and resolves when those at hand are settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    await nextTurn();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, largestBatch);
      const committed = await this.#settle(batch);
      try {
        await this.#announce(committed.filter((envelope) => envelope !== undefined));
      } catch (error) {
        this.#context.log.error('messages were stored but not passed on', { error });
      }
    }
    this.#flushing = undefined;
  }

  /** Commits and tells the publishers how it went. */
  async #settle(batch: readonly Waiting[]): Promise<readonly (Envelope | undefined)[]> {
    try {
      const committed = await this.#commit(batch);
      this.#healthy = true;
      batch.forEach(({ resolve }, index) => resolve(committed[index]));
      return committed;
    } catch (error) {
      this.#healthy = false;
      for (const { reject } of batch) reject(error);
      return [];
    }
  }

  /** What was stored for each of the batch, undefined for a key that was taken. */
  #commit(batch: readonly Waiting[]): Promise<(Envelope | undefined)[]> {
    const { commit, jobs, clock } = this.#context;
    return commit(async (transaction) => {
      const keys = batch.flatMap(({ key }) => key ?? []);
      const free = await this.#store.take(transaction, keys, Math.floor(clock.now() / 1000));
      // The first of two with one key takes it.
      const fresh = batch.map((each) => each.key === undefined || free.delete(each.key));
      const wanted = batch.filter((_, index) => fresh[index]);
      const seqs = await this.#store.insert(transaction, wanted.filter(isCached).map(rowOf));
      const entries = wanted.flatMap(({ entry }) => entry ?? []);
      if (entries.length > 0) await jobs.enqueueAll(transaction, toInbox, inboxJobs(entries));
      await this.#alsoStore(
        transaction,
        wanted.map(({ envelope }) => envelope.message),
      );
      return batch.map(({ envelope: { message, text } }, index) =>
        fresh[index] === true ? new Envelope(message, text, seqs.get(message.id)) : undefined,
      );
    });
  }

  async #announce(envelopes: readonly Envelope[]): Promise<void> {
    const passed = this.#onPublished(envelopes);
    for (const { message } of envelopes) {
      if (message.event !== 'message') continue;
      this.#context.bus.publish(pushPublished, {
        id: message.id,
        topic: message.topic,
        title: message.title ?? '',
        message: message.message ?? '',
        priority: message.priority ?? defaultPriority,
        tags: [...(message.tags ?? [])],
        time: message.time,
      });
    }
    await passed;
  }
}

function isCached({ envelope }: Waiting): boolean {
  return envelope.message.expires !== undefined;
}

function rowOf({ envelope: { message, text }, expires }: Waiting) {
  return { id: message.id, topic: message.topic, time: message.time, expires, text };
}
