import type { Clock } from '../contracts/service.ts';

interface KeptReadingOptions<Answer> {
  readonly clock: Clock;
  readonly read: () => Promise<Answer>;
  /** Something that the answer goes with besides what is told by {@link KeptReading.changed}, such as the hour; another one means another answer. */
  readonly key: () => string;
  /** An answer from before the last change was given, and a newer one can be had now. */
  readonly renew: () => void;
  /** ms that only pass; for tests. */
  readonly stopwatch?: () => number;
}

/** A reading that took less than this is repeated at once when something changed, ms. */
const cheapMs = 50;
/** A dearer one rests so many times as long as it took: what it costs stays a small part of the machine. */
const restTimes = 15;

/**
 * An answer that costs the more the more is stored: kept while nothing changes, read anew after a change, and after a dear
 * reading not before it has rested. Until then the answer from before is given, and who asked is told when it is due.
 */
export class KeptReading<Answer> implements Disposable {
  readonly #options: KeptReadingOptions<Answer>;
  readonly #stopwatch: () => number;
  #changes = 0;
  #kept: { readonly answer: Answer; readonly state: string; readonly restsUntil: number } | undefined;
  #running: { readonly state: string; readonly answer: Promise<Answer> } | undefined;
  #due: Disposable | undefined;

  constructor(options: KeptReadingOptions<Answer>) {
    this.#options = options;
    this.#stopwatch = options.stopwatch ?? (() => performance.now());
  }

  /** What was read may be otherwise now. */
  readonly changed = (): void => {
    this.#changes += 1;
  };

  /** The answer as it is, or as it was a short while ago where reading it is dear. */
  async get(): Promise<Answer> {
    const state = `${String(this.#changes)} ${this.#options.key()}`;
    if (this.#kept?.state === state) return this.#kept.answer;
    const left = (this.#kept?.restsUntil ?? 0) - this.#stopwatch();
    if (this.#kept !== undefined && left > 0) {
      this.#tellIn(left);
      return this.#kept.answer;
    }
    if (this.#running === undefined) return this.#start(state);
    if (this.#running.state === state) return this.#running.answer;
    // One at a time: what runs began before what the asker knows of.
    await this.#running.answer.catch(() => undefined);
    return this.get();
  }

  async #start(state: string): Promise<Answer> {
    const began = this.#stopwatch();
    const answer = this.#options.read();
    this.#running = { state, answer };
    try {
      const read = await answer;
      const took = this.#stopwatch() - began;
      this.#kept = { answer: read, state, restsUntil: took < cheapMs ? 0 : began + took * (1 + restTimes) };
      return read;
    } finally {
      this.#running = undefined;
    }
  }

  #tellIn(ms: number): void {
    this.#due ??= this.#options.clock.after(ms, () => {
      this.#due = undefined;
      this.#options.renew();
    });
  }

  [Symbol.dispose](): void {
    this.#due?.[Symbol.dispose]();
  }
}
