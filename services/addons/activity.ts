import type { Clock } from '../contracts/service.ts';

/** An addon that could not be asked when it was asked last. */
interface Failing {
  readonly name: string;
  readonly sentence: string;
  /** ms since the epoch. */
  readonly at: number;
}

/** What the service did since it was started, for its overview. */
export class Activity {
  readonly #clock: Clock;
  readonly #failing = new Map<string, Failing>();
  #lists = 0;
  #lastListAt: number | undefined;
  #plays = 0;
  #lastPlayAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A list of streams was made; of these addons those with a sentence failed. */
  listed(addons: readonly { readonly addon: string; readonly sentence: string | undefined }[]): void {
    this.#lists += 1;
    this.#lastListAt = this.#clock.now();
    for (const { addon, sentence } of addons) {
      this.#failing.delete(addon);
      if (sentence !== undefined) this.#failing.set(addon, { name: addon, sentence, at: this.#lastListAt });
    }
    for (const name of this.#failing.keys()) if (this.#failing.size > mostFailing) this.#failing.delete(name);
  }

  played(): void {
    this.#plays += 1;
    this.#lastPlayAt = this.#clock.now();
  }

  view() {
    return {
      ...{ lists: this.#lists, lastListAt: this.#lastListAt ?? null },
      ...{ plays: this.#plays, lastPlayAt: this.#lastPlayAt ?? null },
      failing: [...this.#failing.values()].toReversed(),
    };
  }
}

const mostFailing = 50;
