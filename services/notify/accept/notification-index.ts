import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../../contracts/service.ts';
import { NoticeWords } from '../store/search-index.ts';

const minute = 60_000;

/**
 * Keeps the words of notices behind their acceptance: some at a time each minute, and what is missing before a search, so
 * that a search finds what was accepted before it.
 */
export class NoticeIndex {
  readonly words: NoticeWords;
  readonly #context: Pick<Context, 'clock' | 'commit' | 'log'>;
  #adding: Promise<void> | undefined;
  #stopped = false;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'log'>) {
    this.#context = context;
    this.words = new NoticeWords(context.db);
  }

  start(): AsyncDisposable {
    const timer = this.#context.clock.every(minute, () => {
      this.catchUp().catch((error: unknown) => this.#context.log.warn('notices were not indexed', { error }));
    });
    return {
      [Symbol.asyncDispose]: async () => {
        timer[Symbol.dispose]();
        this.#stopped = true;
        await Promise.allSettled([this.#adding]);
      },
    };
  }

  /** Resolves when all that was accepted before is found by its words. */
  async catchUp(): Promise<void> {
    // What is under way may have passed by what came since.
    await this.#adding;
    this.#adding ??= this.#add().finally(() => (this.#adding = undefined));
    await this.#adding;
  }

  async #add(): Promise<void> {
    let more = true;
    while (more && !this.#stopped) {
      more = await this.#context.commit((transaction) => this.words.addSome(transaction));
      await nextTurn();
    }
  }
}
