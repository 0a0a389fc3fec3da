import type { AddonOverview, AddonProfile } from '../contracts/addons/api.ts';
import type { Clock } from '../contracts/service.ts';

type Asked = AddonProfile['asked'];
type Answered = AddonOverview['addons'][number];

/** Result of a request to an addon: a message when it failed, otherwise the number of streams and the duration. */
export interface AddonAnswer {
  readonly addon: string;
  readonly sentence: string | undefined;
  readonly count?: number;
  readonly ms?: number;
}

const mostAddons = 100;
const mostConfigurations = 1000;
const mostPlayers = 8;
const hourMs = 60 * 60 * 1000;
const hoursOfDay = 24;

/** Collects the activity since the start of the service for its overview. */
export class Activity {
  readonly #clock: Clock;
  /** Keyed by addon name, ordered by the time of the last request. */
  readonly #addons = new Map<string, Answered>();
  /** Keyed by configuration ID, ordered by the time of the last request. */
  readonly #configurations = new Map<string, { readonly lists: DayCount; players: Asked['players'] }>();
  readonly #lists = new DayCount();
  readonly #plays = new DayCount();
  readonly #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /**
   * Records a stream list and the results of the addons it was built from.
   *
   * @param options.uuid The configuration, when it is stored.
   */
  listed(
    answers: readonly AddonAnswer[],
    { uuid, player = '' }: { readonly uuid?: string | undefined; readonly player?: string | undefined } = {},
  ): void {
    const at = this.#clock.now();
    this.#lists.add(at);
    if (uuid !== undefined) this.#listedOf(uuid, player, at);
    for (const { addon, sentence, count = 0, ms = 0 } of answers) {
      this.#addons.delete(addon);
      this.#addons.set(addon, { name: addon, trouble: sentence ?? null, streams: count, ms: ms > 0 ? ms : null, at });
    }
    for (const name of this.#addons.keys()) if (this.#addons.size > mostAddons) this.#addons.delete(name);
  }

  /** Returns the requests of players for one configuration. */
  of(uuid: string): Asked {
    const known = this.#configurations.get(uuid);
    if (known === undefined) return { lists: 0, lastAt: null, players: [] };
    const { lists, players } = known;
    return { lists: lists.of(this.#clock.now()), lastAt: lists.lastAt, players };
  }

  #listedOf(uuid: string, player: string, at: number): void {
    const { lists, players } = this.#configurations.get(uuid) ?? { lists: new DayCount(), players: [] };
    lists.add(at);
    const others = players.filter(({ userAgent }) => userAgent !== player).slice(0, mostPlayers - 1);
    this.#configurations.delete(uuid);
    this.#configurations.set(uuid, { lists, players: [{ userAgent: player, at }, ...others] });
    for (const id of this.#configurations.keys())
      if (this.#configurations.size > mostConfigurations) this.#configurations.delete(id);
  }

  played(): void {
    this.#plays.add(this.#clock.now());
  }

  view(): Omit<AddonOverview, 'configurations'> {
    const now = this.#clock.now();
    return {
      since: this.#since,
      lists: this.#lists.of(now),
      hours: this.#lists.byHour(now),
      lastListAt: this.#lists.lastAt,
      plays: this.#plays.of(now),
      lastPlayAt: this.#plays.lastAt,
      addons: [...this.#addons.values()].toReversed(),
    };
  }
}

/**
 * Counts events of the last 24 hours. Counts are stored per hour, so that memory use does not depend on the number of
 * events.
 */
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

  /** Returns the counts per hour, the current hour last. */
  byHour(now: number): { from: number; lists: number }[] {
    const first = hourOf(now) - hoursOfDay + 1;
    return Array.from({ length: hoursOfDay }, (_, index) => {
      const hour = first + index;
      return { from: hour * hourMs, lists: this.#hours.get(hour) ?? 0 };
    });
  }
}

function hourOf(at: number): number {
  return Math.floor(at / hourMs);
}
