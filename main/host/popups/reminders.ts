import type { Clock } from '../../../services/contracts/service.ts';
import type { Brief } from './rules.ts';

/** Urgent messages whose text is kept for repetition. */
const most = 100;

/** Urgent messages that nobody has seen: told again and again until they are. */
export class Reminders {
  readonly #briefs: Map<number, Brief>;
  readonly #clock: Clock;
  readonly #minutes: () => number;
  readonly #remind: (briefs: readonly Brief[]) => void;
  #alarm: Disposable | undefined;

  /** `minutes` between two reminders, read at each use; 0: none. */
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
    if (this.#alarm === undefined) this.renew();
  }

  /** True when one of them was waiting. */
  remove(ids: readonly number[]): boolean {
    const removed = ids.filter((id) => this.#briefs.delete(id)).length > 0;
    if (this.#briefs.size === 0) this.stop();
    return removed;
  }

  /** Begins the wait again, by the settings as they are now. */
  renew(): void {
    this.stop();
    const minutes = this.#minutes();
    if (minutes === 0 || this.#briefs.size === 0) return;
    this.#alarm = this.#clock.after(minutes * 60_000, () => {
      this.#remind(this.briefs);
      this.renew();
    });
  }

  stop(): void {
    this.#alarm?.[Symbol.dispose]();
    this.#alarm = undefined;
  }
}
