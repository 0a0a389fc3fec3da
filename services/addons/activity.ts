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
const hourMs = 60 * 60 * 1000;
const hoursOfDay = 24;

/** What the service did since it was started, for its overview. */
export class Activity {
  readonly #clock: Clock;
  /** By name, the one that was asked last at the end. */
  readonly #addons = new Map<string, Answered>();
  readonly #lists = new DayCount();
  readonly #plays = new DayCount();
  readonly #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** A list of streams was made of what these addons said. */
  listed(answers: readonly AddonAnswer[]): void {
    const at = this.#clock.now();
    this.#lists.add(at);
    for (const { addon, sentence, count = 0, ms = 0 } of answers) {
      this.#addons.delete(addon);
      this.#addons.set(addon, { name: addon, trouble: sentence ?? null, streams: count, ms: ms > 0 ? ms : null, at });
    }
    for (const name of this.#addons.keys()) if (this.#addons.size > mostAddons) this.#addons.delete(name);
  }

  played(): void {
    this.#plays.add(this.#clock.now());
  }

  view(): Omit<AddonOverview, 'configurations'> {
    const now = this.#clock.now();
    return {
      since: this.#since,
      ...{ lists: this.#lists.of(now), lastListAt: this.#lists.lastAt },
      ...{ plays: this.#plays.of(now), lastPlayAt: this.#plays.lastAt },
      addons: [...this.#addons.values()].toReversed(),
    };
  }
}

/** How often something happened in the last day. It is counted by the hour, so that it takes as little room for very many. */
class DayCount {
  lastAt: number | null = null;
  readonly #hours = new Map<number, number>();

  add(at: number): void {
    const hour = hourOf(at);
    this.#hours.set(hour, (this.#hours.get(hour) ?? 0) + 1);
    for (const each of this.#hours.keys()) if (each <= hour - hoursOfDay) this.#hours.delete(each);
    this.lastAt = at;
  }

  of(now: number): number {
    const before = hourOf(now) - hoursOfDay;
    return [...this.#hours].reduce((sum, [hour, count]) => (hour > before ? sum + count : sum), 0);
  }
}

function hourOf(at: number): number {
  return Math.floor(at / hourMs);
}
