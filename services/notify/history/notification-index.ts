import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../../contracts/service.ts';
import { NotificationSearchIndex } from '../store/search-index.ts';

const minuteMs = 60_000;

/**
 * Indexes accepted notifications for the search: in batches each minute, and all that are missing before a search, so
 * that a search finds every notification accepted before it.
 */
export class NotificationIndex {
  readonly terms: NotificationSearchIndex;
  readonly #context: Pick<Context, 'clock' | 'commit' | 'log'>;
  #indexing: Promise<void> | undefined;
  #stopped = false;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'log'>) {
    this.#context = context;
    this.terms = new NotificationSearchIndex(context.db);
  }

  start(): AsyncDisposable {
    const timer = this.#context.clock.every(minuteMs, () => {
      this.catchUp().catch((error: unknown) => this.#context.log.warn('search index update failed', { error }));
    });
    return {
      [Symbol.asyncDispose]: async () => {
        timer[Symbol.dispose]();
        this.#stopped = true;
        await Promise.allSettled([this.#indexing]);
      },
    };
  }

  /** Resolves when all notifications accepted before the call are indexed. */
  async catchUp(): Promise<void> {
    // A running pass may have skipped notifications that were accepted after it began.
    await this.#indexing;
    this.#indexing ??= this.#indexAll().finally(() => (this.#indexing = undefined));
    await this.#indexing;
  }

  async #indexAll(): Promise<void> {
    let hasMore = true;
    while (hasMore && !this.#stopped) {
      hasMore = await this.#context.commit((transaction) => this.terms.indexNext(transaction));
      await nextTurn();
    }
  }
}
