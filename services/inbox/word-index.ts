import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../contracts/service.ts';
import type { ItemWords } from './store/item-search-terms.ts';
import { SingleFlight } from '../kit/single-flight.ts';

const minuteMs = 60_000;

/** Indexes rows asynchronously: every minute, and before a search, so that it finds all earlier rows. */
export class WordIndex {
  readonly #context: Pick<Context, 'clock' | 'commit' | 'db' | 'log'>;
  readonly #itemWords: ItemWords;
  readonly #indexingNew = new SingleFlight(() => this.#indexNew());
  readonly #indexingOld = new SingleFlight(() => this.#indexOld());
  #stopped = false;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'log'>, itemWords: ItemWords) {
    this.#context = context;
    this.#itemWords = itemWords;
  }

  start(): AsyncDisposable {
    const { clock, log } = this.#context;
    const logFailure = (error: unknown): void => log.warn('inbox indexing failed', { error });
    const work = (): void => {
      this.catchUp().catch(logFailure);
      this.#indexingOld.run().catch(logFailure);
    };
    work();
    const timer = clock.every(minuteMs, work);
    return {
      [Symbol.asyncDispose]: async () => {
        timer[Symbol.dispose]();
        this.#stopped = true;
        await Promise.all([this.#indexingNew.settled(), this.#indexingOld.settled()]);
      },
    };
  }

  /** Resolves when all existing rows are indexed. */
  async catchUp(): Promise<void> {
    // A run in progress may have missed the newest rows.
    await this.#indexingNew.runAgain();
  }

  async #indexNew(): Promise<void> {
    if (!(await this.#itemWords.hasNew(this.#context.db))) return;
    for (let hasMore = true; hasMore && !this.#stopped; await nextTurn())
      hasMore = await this.#context.commit((transaction) => this.#itemWords.addNew(transaction));
  }

  /** Indexes rows of older versions, one batch per commit, so that other commits run in between. */
  async #indexOld(): Promise<void> {
    if ((await this.#itemWords.backlog(this.#context.db)) === undefined) return;
    for (let hasMore = true; hasMore && !this.#stopped; await nextTurn())
      hasMore = await this.#context.commit((transaction) => this.#itemWords.addOld(transaction));
  }
}
