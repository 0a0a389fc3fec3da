import type { Clock } from '../contracts/service.ts';
import type { Brief } from './rules.ts';

/** Urgent messages whose text is kept for repetition. */
const most = 100;

/** Urgent messages that nobody has seen: told again and again until they are, those with the same wait together. */
export class Reminders {
  readonly #briefs: Map<number, Brief>;
  readonly #clock: Clock;
  readonly #minutes: () => number;
  readonly #remind: (briefs: readonly Brief[]) => void;
  /** By the minutes between two reminders. */
  readonly #alarms = new Map<number, Disposable>();

  /** `minutes` between two reminders of messages that say nothing of their own, read at each use; 0: none. */
  constructor(
    known: readonly Brief[],
    clock: Clock,
    minutes: () => number,
    remind: (briefs: readonly Brief[]) => void,
  ) {
    this.#briefs = new Map(known.map((brief) => [brief.id, brief]));
    this.#clock = clock;
    this.#minutes = minutes;
    this.#remind = remind;
  }

  get briefs(): readonly Brief[] {
    return [...this.#briefs.values()];
  }

  keep(brief: Brief): void {
    if (this.#briefs.size < most) this.#briefs.set(brief.id, brief);
    this.#wait(this.#waitOf(brief));
  }

  /** True when one of them was waiting. */
  remove(ids: readonly number[]): boolean {
    const removed = ids.filter((id) => this.#briefs.delete(id)).length > 0;
    if (this.#briefs.size === 0) this.stop();
    return removed;
  }

  /** Begins the waits again, by the settings as they are now. */
  renew(): void {
    this.stop();
    for (const brief of this.briefs) this.#wait(this.#waitOf(brief));
  }

  stop(): void {
    for (const alarm of this.#alarms.values()) alarm[Symbol.dispose]();
    this.#alarms.clear();
  }

  /** Where reminders are switched off as a whole, no message has them. */
  #waitOf({ repeatMinutes }: Brief): number {
    return repeatMinutes ?? this.#minutes();
  }

  #wait(minutes: number): void {
    if (minutes === 0 || this.#alarms.has(minutes)) return;
    const alarm = this.#clock.after(minutes * 60_000, () => {
      this.#alarms.delete(minutes);
      const due = this.briefs.filter((brief) => this.#waitOf(brief) === minutes);
      if (due.length === 0) return;
      this.#remind(due);
      this.#wait(minutes);
    });
    this.#alarms.set(minutes, alarm);
  }
}
