import { readText, type Text } from '../contracts/text.ts';
import type { AddonOverview, AddonProfile } from '../contracts/addons/api.ts';
import type { Clock } from '../contracts/service.ts';

type ProfileActivity = AddonProfile['asked'];
/** Result of an addon, whose error each reader gets in their language. */
type AddonStatus = Omit<AddonOverview['addons'][number], 'error'> & { readonly error: Text | null };

/** Result of a request to an addon: a message when it failed, otherwise the number of streams and the duration. */
export interface AddonAnswer {
  readonly addon: string;
  readonly sentence: Text | undefined;
  readonly count?: number;
  readonly ms?: number;
}

const maxAddons = 100;
const maxConfigurations = 1000;
const maxPlayers = 8;
const hourMs = 60 * 60 * 1000;
const hoursOfDay = 24;
/** The hours of the day before are stored for comparison. */
const storedHours = 2 * hoursOfDay;

/** Collects the activity since the start of the service for its overview. */
export class Activity {
  readonly #clock: Clock;
  /** Keyed by addon name, ordered by the time of the last request. */
  readonly #addons = new Map<string, AddonStatus>();
  /** Keyed by configuration ID, ordered by the time of the last request. */
  readonly #configurations = new Map<string, { readonly lists: DailyCounter; players: ProfileActivity['players'] }>();
  readonly #lists = new DailyCounter();
  readonly #plays = new DailyCounter();
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
  recordList(
    answers: readonly AddonAnswer[],
    { uuid, player = '' }: { readonly uuid?: string | undefined; readonly player?: string | undefined } = {},
  ): void {
    const now = this.#clock.now();
    this.#lists.add(now);
    if (uuid !== undefined) this.#recordProfileList(uuid, player, now);
    for (const { addon, sentence, count = 0, ms = 0 } of answers) {
      this.#addons.delete(addon);
      this.#addons.set(addon, {
        name: addon,
        error: sentence ?? null,
        streams: count,
        ms: ms > 0 ? ms : null,
        at: now,
      });
    }
    for (const name of this.#addons.keys()) if (this.#addons.size > maxAddons) this.#addons.delete(name);
  }

  /** Returns the requests of players for one configuration. */
  getProfileActivity(uuid: string): ProfileActivity {
    const existing = this.#configurations.get(uuid);
    if (existing === undefined) return { lists: 0, lastAt: null, players: [] };
    const { lists, players } = existing;
    return { lists: lists.getCount(this.#clock.now()), lastAt: lists.lastAt, players };
  }

  #recordProfileList(uuid: string, player: string, timestamp: number): void {
    const { lists, players } = this.#configurations.get(uuid) ?? { lists: new DailyCounter(), players: [] };
    lists.add(timestamp);
    const otherPlayers = players.filter(({ userAgent }) => userAgent !== player).slice(0, maxPlayers - 1);
    this.#configurations.delete(uuid);
    this.#configurations.set(uuid, { lists, players: [{ userAgent: player, at: timestamp }, ...otherPlayers] });
    for (const id of this.#configurations.keys())
      if (this.#configurations.size > maxConfigurations) this.#configurations.delete(id);
  }

  recordPlay(): void {
    this.#plays.add(this.#clock.now());
  }

  getOverview(): Omit<AddonOverview, 'configurations'> {
    const now = this.#clock.now();
    return {
      since: this.#since,
      lists: this.#lists.getCount(now),
      hours: this.#lists.getCountsByHour(now),
      previousHours: this.#lists
        .getCountsByHour(now - hoursOfDay * hourMs)
        .map(({ from, lists }) => (from + hourMs <= this.#since ? null : lists)),
      lastListAt: this.#lists.lastAt,
      plays: this.#plays.getCount(now),
      lastPlayAt: this.#plays.lastAt,
      addons: [...this.#addons.values()]
        .toReversed()
        .map((addon) => ({ ...addon, error: addon.error === null ? null : readText(addon.error) })),
    };
  }
}

/**
 * Counts events of the last 24 hours and of the day before. Counts are stored per hour, so that memory use does not depend on the number of
 * events.
 */
class DailyCounter {
  lastAt: number | null = null;
  readonly #hours = new Map<number, number>();

  add(timestamp: number): void {
    const hour = toHour(timestamp);
    this.#hours.set(hour, (this.#hours.get(hour) ?? 0) + 1);
    for (const storedHour of this.#hours.keys()) if (storedHour <= hour - storedHours) this.#hours.delete(storedHour);
    this.lastAt = timestamp;
  }

  getCount(now: number): number {
    const oldestHour = toHour(now) - hoursOfDay;
    return [...this.#hours].reduce((sum, [hour, count]) => (hour > oldestHour ? sum + count : sum), 0);
  }

  /** Returns the counts per hour, the current hour last. */
  getCountsByHour(now: number): { from: number; lists: number }[] {
    const firstHour = toHour(now) - hoursOfDay + 1;
    return Array.from({ length: hoursOfDay }, (_, index) => {
      const hour = firstHour + index;
      return { from: hour * hourMs, lists: this.#hours.get(hour) ?? 0 };
    });
  }
}

function toHour(timestamp: number): number {
  return Math.floor(timestamp / hourMs);
}
