import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../../contracts/service.ts';
import { NotificationSearchIndex } from '../store/search-index.ts';
import { SingleFlight } from '../../kit/single-flight.ts';
import { RepeatingTask } from '../../kit/repeating-task.ts';

const minuteMs = 60_000;

/**
 * Indexes accepted notifications for the search: in batches each minute, and all that are missing before a search, so
 * that a search finds every notification accepted before it.
 */
export class NotificationIndex {
  readonly terms: NotificationSearchIndex;
  readonly #context: Pick<Context, 'clock' | 'commit' | 'log'>;
  readonly #indexing = new SingleFlight(() => this.#indexAll());
  #stopped = false;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'log'>) {
    this.#context = context;
    this.terms = new NotificationSearchIndex(context.db);
  }

  start(): AsyncDisposable {
    const { clock, log } = this.#context;
    const onError = (error: unknown): void => log.warn('search index update failed', { error });
    const updates = new RepeatingTask(() => this.catchUp(), { clock, intervalMs: minuteMs, onError });
    return {
      [Symbol.asyncDispose]: async () => {
        this.#stopped = true;
        await updates[Symbol.asyncDispose]();
        await this.#indexing.settled();
      },
    };
  }

  /** Resolves when all notifications accepted before the call are indexed. */
  async catchUp(): Promise<void> {
    // A running pass may have skipped notifications that were accepted after it began.
    await this.#indexing.runAgain();
  }

  async #indexAll(): Promise<void> {
    let hasMore = true;
    while (hasMore && !this.#stopped) {
      hasMore = await this.#context.commit((transaction) => this.terms.indexNext(transaction));
      await nextTurn();
    }
  }
}
