import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../contracts/service.ts';
import type { ItemWords } from './store/item-words.ts';

const minute = 60_000;

/** Keeps the words of rows behind their arrival: once a minute, and before a search, so that it finds what came before it. */
export class WordIndex {
  readonly #context: Pick<Context, 'clock' | 'commit' | 'db' | 'log'>;
  readonly #words: ItemWords;
  #adding: Promise<void> | undefined;
  #filling: Promise<void> | undefined;
  #stopped = false;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'log'>, words: ItemWords) {
    this.#context = context;
    this.#words = words;
  }

  start(): AsyncDisposable {
    const { clock, log } = this.#context;
    const complain = (error: unknown): void => log.warn('words were not indexed', { error });
    const work = (): void => {
      this.catchUp().catch(complain);
      this.#filling ??= this.#fill()
        .catch(complain)
        .finally(() => (this.#filling = undefined));
    };
    work();
    const timer = clock.every(minute, work);
    return {
      [Symbol.asyncDispose]: async () => {
        timer[Symbol.dispose]();
        this.#stopped = true;
        await Promise.allSettled([this.#adding, this.#filling]);
      },
    };
  }

  /** Resolves when all that came before is found by its words. */
  async catchUp(): Promise<void> {
    // What is under way may have passed by what came since.
    await this.#adding;
    this.#adding ??= this.#add().finally(() => (this.#adding = undefined));
    await this.#adding;
  }

  async #add(): Promise<void> {
    if (!(await this.#words.hasNew(this.#context.db))) return;
    for (let more = true; more && !this.#stopped; await nextTurn())
      more = await this.#context.commit((transaction) => this.#words.addNew(transaction));
  }

  /** Rows that were there before the index: a batch a commit, so that others get in between. */
  async #fill(): Promise<void> {
    if ((await this.#words.backlog(this.#context.db)) === undefined) return;
    for (let more = true; more && !this.#stopped; await nextTurn())
      more = await this.#context.commit((transaction) => this.#words.addOld(transaction));
  }
}
