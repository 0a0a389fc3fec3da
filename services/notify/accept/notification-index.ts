import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../../contracts/service.ts';
import { NotificationSearchIndex } from '../store/search-index.ts';

const minuteMs = 60_000;

/**
 * Keeps the words of notices behind their acceptance: some at a time each minute, and what is missing before a search, so
 * that a search finds what was accepted before it.
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
      this.catchUp().catch((error: unknown) => this.#context.log.warn('notices were not indexed', { error }));
    });
    return {
      [Symbol.asyncDispose]: async () => {
        timer[Symbol.dispose]();
        this.#stopped = true;
        await Promise.allSettled([this.#indexing]);
      },
    };
  }

  /** Resolves when all that was accepted before is found by its words. */
  async catchUp(): Promise<void> {
    // What is under way may have passed by what came since.
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
