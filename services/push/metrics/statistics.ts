import type { Clock } from '../../contracts/service.ts';

const minuteMs = 60_000;
/** Minutes over which the rate is computed. */
const windowMinutes = 10;

/** Number of published messages: in total, today (local time) and as a recent rate. */
export class Statistics {
  readonly #clock: Clock;
  #total = 0;
  #today = 0;
  #day: string;
  /** Total at the end of each of the last minutes, oldest first. */
  readonly #samples: { readonly time: number; readonly total: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#day = toDay(clock.now());
  }

  /** Continues from stored values. */
  resume(total: number, today: number): void {
    this.#total = total;
    this.#today = today;
    this.#samples.splice(0, this.#samples.length, { time: this.#clock.now(), total });
  }

  add(messages: number): void {
    const day = toDay(this.#clock.now());
    if (day !== this.#day) this.#today = 0;
    this.#day = day;
    this.#total += messages;
    this.#today += messages;
  }

  get total(): number {
    return this.#total;
  }

  get today(): number {
    return toDay(this.#clock.now()) === this.#day ? this.#today : 0;
  }

  /** Messages per second over the last ten minutes, or since the start. */
  get rate(): number {
    const oldest = this.#samples[0];
    if (oldest === undefined) return 0;
    return (this.#total - oldest.total) / Math.max(1, (this.#clock.now() - oldest.time) / 1000);
  }

  /** Records a sample. Called every minute. */
  sample(): void {
    const now = this.#clock.now();
    this.#samples.push({ time: now, total: this.#total });
    while (this.#samples.length > 1 && now - (this.#samples[0]?.time ?? now) > windowMinutes * minuteMs)
      this.#samples.shift();
  }
}

function toDay(time: number): string {
  return new Date(time).toDateString();
}
