import type { AddonOverview } from '../contracts/addons/api.ts';
import type { Clock } from '../contracts/service.ts';

type Answered = AddonOverview['addons'][number];

/** What an addon said: a sentence where it failed, else how many streams and how long that took. */
export interface AddonAnswer {
  readonly addon: string;
  readonly sentence: string | undefined;
  readonly count?: number;
  readonly ms?: number;
}

const mostAddons = 100;

/** What the service did since it was started, for its overview. */
export class Activity {
  readonly #clock: Clock;
  /** By name, the one that was asked last at the end. */
  readonly #addons = new Map<string, Answered>();
  #lists = 0;
  #lastListAt: number | undefined;
  #plays = 0;
  #lastPlayAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A list of streams was made of what these addons said. */
  listed(answers: readonly AddonAnswer[]): void {
    this.#lists += 1;
    const at = this.#clock.now();
    this.#lastListAt = at;
    for (const { addon, sentence, count = 0, ms = 0 } of answers) {
      this.#addons.delete(addon);
      this.#addons.set(addon, { name: addon, trouble: sentence ?? null, streams: count, ms: ms > 0 ? ms : null, at });
    }
    for (const name of this.#addons.keys()) if (this.#addons.size > mostAddons) this.#addons.delete(name);
  }

  played(): void {
    this.#plays += 1;
    this.#lastPlayAt = this.#clock.now();
  }

  view(): Omit<AddonOverview, 'configurations'> {
    return {
      ...{ lists: this.#lists, lastListAt: this.#lastListAt ?? null },
      ...{ plays: this.#plays, lastPlayAt: this.#lastPlayAt ?? null },
      addons: [...this.#addons.values()].toReversed(),
    };
  }
}
