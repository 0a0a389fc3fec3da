import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock, Log } from '../../../services/contracts/service.ts';

/** What is longer is told in the log. */
export const longMs = 100;
const resolutionMs = 20;
const everyMs = 1000;
/** The same is told once in so long. */
const quietMs = 60_000;
const mostKept = 200;
const longestName = 160;

/** Upper bounds of the delays that are counted, in seconds. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

/** What a stretch of work is measured by, in ms. */
export interface LoopTimes {
  now(): number;
  /** What this thread has computed. */
  processor(): number;
}

const machineTimes: LoopTimes = { now: () => performance.now(), processor: processorMs };

type DelayMonitor = ReturnType<typeof monitorEventLoopDelay>;

/** How long callbacks had to wait for their turn, since the start. */
export interface LoopDelays {
  /** Delays up to each bound, those below it among them. */
  readonly buckets: readonly { readonly seconds: number; readonly count: number }[];
  readonly count: number;
  /** In seconds. */
  readonly sum: number;
}

/**
 * Watches the one event loop that all services share. What a service does at a stretch is timed where it is called: its
 * statements, the beginning of its requests, its timers and bus listeners. What holds the loop up besides, such as code
 * after an `await`, is found by a late timer; of that it tells what was begun last.
 */
export class LoopWatch implements Disposable {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #times: LoopTimes;
  readonly #window: DelayMonitor = monitorEventLoopDelay({ resolution: resolutionMs });
  #counts: readonly number[] = bounds.map(() => 0);
  readonly #told = new Map<string, { at: number; more: number }>();
  readonly #timer: NodeJS.Timeout;
  #count = 0;
  #sum = 0;
  #processor: number;
  #last = { start: 0, ms: 0 };
  /** The longest that was named since the last look. */
  #named = 0;
  #service = '';
  #what = '';
  #tells = false;

  constructor({ log, clock, times }: { readonly log: Log; readonly clock: Clock; readonly times?: LoopTimes }) {
    this.#log = log;
    this.#clock = clock;
    this.#times = times ?? machineTimes;
    this.#processor = this.#times.processor();
    this.#window.enable();
    // Of the machine, since a clock that is turned by hand says nothing of the loop.
    this.#timer = setInterval(() => this.#look(), everyMs).unref();
  }

  /** Does something at a stretch. `what` names it without what only its person may know. */
  run<T>(service: string, what: string, work: () => T): T {
    const start = this.begin(service, what);
    try {
      return work();
    } finally {
      this.end(service, what, start);
    }
  }

  /** For what runs too often for a closure; answers what `end` wants to know. */
  begin(service: string, what: string): number {
    this.#service = service;
    this.#what = what;
    return this.#times.now();
  }

  end(service: string, what: string, start: number): void {
    const ms = this.#times.now() - start;
    if (ms < longMs) return;
    // What ran within this, such as a statement in a request, was told by itself.
    if (this.#last.start >= start && ms - this.#last.ms < longMs) return;
    this.#last = { start, ms };
    this.#named = Math.max(this.#named, ms);
    this.#tell('the event loop was blocked', service, what, ms);
  }

  /** From now on the log names what blocks the loop. A start loads programs and opens databases, and nobody waits for it. */
  startTelling(): void {
    this.#settle();
    this.#tells = true;
  }

  delays(): LoopDelays {
    const { counts, count, sum } = this.#open();
    const buckets = bounds.map((seconds, at) => ({ seconds, count: counts[at] ?? 0 }));
    return { buckets, count, sum };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#window.disable();
  }

  #look(): void {
    const worst = this.#window.max / 1e6 - resolutionMs;
    const processor = this.#times.processor();
    const busy = processor - this.#processor;
    this.#processor = processor;
    const named = this.#named;
    this.#named = 0;
    if (worst < longMs) return;
    // So that the next long one is seen. It costs a delay, since the first after it is not counted.
    this.#settle();
    if (worst - named < longMs) return;
    // It did not compute for that long: others had the processor, or the disk or the memory was slow.
    if (busy < worst / 2) {
      this.#tell('the event loop had to wait for the machine', 'host', 'other programs, the disk or the memory', worst);
    } else this.#tell('the event loop was blocked', 'unknown', `begun last: ${this.#service} ${this.#what}`, worst);
  }

  /** All delays, those of the window that is open among them. */
  #open(): { readonly counts: readonly number[]; readonly count: number; readonly sum: number } {
    const { count, max, mean } = this.#window;
    if (count === 0) return { counts: this.#counts, count: this.#count, sum: this.#sum };
    const counts = bounds.map(
      (seconds, at) => (this.#counts[at] ?? 0) + upTo(this.#window, seconds * 1e9 + resolutionMs * 1e6, count, max),
    );
    const seconds = Math.max(0, ((mean / 1e6 - resolutionMs) * count) / 1000);
    return { counts, count: this.#count + count, sum: this.#sum + seconds };
  }

  #settle(): void {
    ({ counts: this.#counts, count: this.#count, sum: this.#sum } = this.#open());
    this.#window.reset();
  }

  #tell(message: string, service: string, what: string, ms: number): void {
    if (!this.#tells) return;
    const by = what.replaceAll(/\s+/g, ' ').slice(0, longestName);
    const key = `${service}\n${by}`;
    const now = this.#clock.now();
    const told = this.#told.get(key);
    if (told !== undefined && now - told.at < quietMs) {
      told.more += 1;
      return;
    }
    this.#told.delete(key);
    this.#told.set(key, { at: now, more: 0 });
    if (this.#told.size > mostKept)
      for (const oldest of this.#told.keys()) if (this.#told.size > mostKept) this.#told.delete(oldest);
    const more = told === undefined || told.more === 0 ? {} : { moreSinceTold: told.more };
    this.#log.warn(message, { service, by, milliseconds: Math.round(ms), ...more });
  }
}

/** How many of the delays of a window are no longer than that, in ns. */
function upTo(window: DelayMonitor, limit: number, count: number, max: number): number {
  if (max <= limit) return count;
  let [least, most] = [0, count];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (window.percentile((100 * (middle - 0.5)) / count) <= limit) least = middle;
    else most = middle - 1;
  }
  return least;
}

/** Of this thread alone. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
