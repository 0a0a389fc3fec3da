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
const day = 24 * 60 * 60 * 1000;
/** Of one kind, so many times are kept. */
const mostTimes = 10_000;

/** What the service did since it was started, for its overview. */
export class Activity {
  readonly #clock: Clock;
  /** By name, the one that was asked last at the end. */
  readonly #addons = new Map<string, Answered>();
  /** When each happened, ms since the epoch, the latest at the end. */
  readonly #lists: number[] = [];
  readonly #plays: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A list of streams was made of what these addons said. */
  listed(answers: readonly AddonAnswer[]): void {
    const at = this.#clock.now();
    keep(this.#lists, at);
    for (const { addon, sentence, count = 0, ms = 0 } of answers) {
      this.#addons.delete(addon);
      this.#addons.set(addon, { name: addon, trouble: sentence ?? null, streams: count, ms: ms > 0 ? ms : null, at });
    }
    for (const name of this.#addons.keys()) if (this.#addons.size > mostAddons) this.#addons.delete(name);
  }

  played(): void {
    keep(this.#plays, this.#clock.now());
  }

  view(): Omit<AddonOverview, 'configurations'> {
    const since = this.#clock.now() - day;
    const recent = (times: readonly number[]): number => times.filter((at) => at > since).length;
    return {
      ...{ lists: recent(this.#lists), lastListAt: this.#lists.at(-1) ?? null },
      ...{ plays: recent(this.#plays), lastPlayAt: this.#plays.at(-1) ?? null },
      addons: [...this.#addons.values()].toReversed(),
    };
  }
}

function keep(times: number[], at: number): void {
  times.push(at);
  if (times.length > mostTimes) times.shift();
}
