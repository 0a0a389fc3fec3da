import type { Clock } from '../contracts/service.ts';
import type { Brief } from './rules.ts';

/** Maximum number of urgent messages kept for repetition. */
const maxBriefs = 100;

/** Repeats urgent messages until they are read, those with the same interval together. */
export class Reminders {
  readonly #briefs: Map<number, Brief>;
  readonly #clock: Clock;
  readonly #minutes: () => number;
  readonly #remind: (briefs: readonly Brief[]) => void;
  /** Timers by the minutes between two reminders. */
  readonly #alarms = new Map<number, Disposable>();

  /** `minutes` returns the interval of messages without their own, read on each use; 0 disables it. */
  constructor(
    saved: readonly Brief[],
    clock: Clock,
    minutes: () => number,
    remind: (briefs: readonly Brief[]) => void,
  ) {
    this.#briefs = new Map(saved.map((brief) => [brief.id, brief]));
    this.#clock = clock;
    this.#minutes = minutes;
    this.#remind = remind;
  }

  get briefs(): readonly Brief[] {
    return [...this.#briefs.values()];
  }

  add(brief: Brief): void {
    if (this.#briefs.size < maxBriefs) this.#briefs.set(brief.id, brief);
    this.#schedule(this.#getMinutes(brief));
  }

  /** Returns true when one of them was repeated. */
  remove(ids: readonly number[]): boolean {
    const removed = ids.filter((id) => this.#briefs.delete(id)).length > 0;
    if (this.#briefs.size === 0) this.stop();
    return removed;
  }

  /** Restarts all timers with the current settings. */
  restart(): void {
    this.stop();
    for (const brief of this.briefs) this.#schedule(this.#getMinutes(brief));
  }

  stop(): void {
    for (const alarm of this.#alarms.values()) alarm[Symbol.dispose]();
    this.#alarms.clear();
  }

  /** When reminders are disabled in general, messages have none. */
  #getMinutes({ repeatMinutes }: Brief): number {
    return repeatMinutes ?? this.#minutes();
  }

  #schedule(minutes: number): void {
    if (minutes === 0 || this.#alarms.has(minutes)) return;
    const alarm = this.#clock.after(minutes * 60_000, () => {
      this.#alarms.delete(minutes);
      const due = this.briefs.filter((brief) => this.#getMinutes(brief) === minutes);
      if (due.length === 0) return;
      this.#remind(due);
      this.#schedule(minutes);
    });
    this.#alarms.set(minutes, alarm);
  }
}
