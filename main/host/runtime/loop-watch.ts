import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import { LruMap } from '../../../services/kit/lru-map.ts';

/** Longer tasks are logged. */
export const longTaskMs = 100;
/** Tasks from this duration on are noticeable and logged as warnings. */
const warningMs = 1000;
const resolutionMs = 20;
const everyMs = 1000;
/** Minimum interval between log entries about the same task. */
const quietMs = 60_000;
const maxStored = 200;
const maxNameLength = 160;

/** Upper bounds of the histogram in seconds. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

const messages = {
  event_loop_blocked: 'event loop blocked',
  event_loop_delayed: 'event loop delayed by other programs',
};

/** Clocks by which a task is measured, in ms. */
export interface LoopTimes {
  now(): number;
  /** Processor time of this thread. */
  processor(): number;
}

const machineTimes: LoopTimes = { now: () => performance.now(), processor: processorMs };

type DelayMonitor = ReturnType<typeof monitorEventLoopDelay>;

/** Delays of callbacks since the start. */
export interface LoopDelays {
  /** Cumulative number of delays up to each bound. */
  readonly buckets: readonly { readonly seconds: number; readonly count: number }[];
  readonly count: number;
  /** In seconds. */
  readonly sum: number;
}

/**
 * Monitors the event loop that all services share. Synchronous work of services is timed where it is called:
 * statements, the beginning of requests, timers and bus subscribers. Other blocking code, such as code after an
 * `await`, is detected by a late timer, which reports the most recently started work.
 */
export class LoopWatch implements Disposable {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #times: LoopTimes;
  readonly #window: DelayMonitor = monitorEventLoopDelay({ resolution: resolutionMs });
  #counts: readonly number[] = bounds.map(() => 0);
  readonly #logged = new LruMap<string, { at: number; more: number }>(maxStored);
  readonly #timer: NodeJS.Timeout;
  #count = 0;
  #sum = 0;
  #processor: number;
  #last = { start: 0, ms: 0 };
  /** Longest task that was logged since the last check. */
  #named = 0;
  #service = '';
  #task = '';
  #tells = false;

  constructor({ log, clock, times }: { readonly log: Log; readonly clock: Clock; readonly times?: LoopTimes }) {
    this.#log = log;
    this.#clock = clock;
    this.#times = times ?? machineTimes;
    this.#processor = this.#times.processor();
    this.#window.enable();
    // Uses the monotonic clock, since a manual change of the clock is not a delay.
    this.#timer = setInterval(() => this.#checkDelay(), everyMs).unref();
  }

  /** Runs a synchronous task. `what` describes it without private data. */
  run<T>(service: string, label: string, work: () => T): T {
    const start = this.begin(service, label);
    try {
      return work();
    } finally {
      this.end(service, label, start);
    }
  }

  /** For tasks that run too often for a closure; returns the argument of `end`. */
  begin(service: string, label: string): number {
    this.#service = service;
    this.#task = label;
    return this.#times.now();
  }

  end(service: string, label: string, start: number): void {
    const ms = this.#times.now() - start;
    if (ms < longTaskMs) return;
    // A nested task, such as a statement in a request, was logged itself.
    if (this.#last.start >= start && ms - this.#last.ms < longTaskMs) return;
    this.#last = { start, ms };
    this.#named = Math.max(this.#named, ms);
    this.#logTask('event_loop_blocked', service, label, ms);
  }

  /** Enables logging of blocking tasks. The start, which loads programs and opens databases, is not logged. */
  startTelling(): void {
    this.#settle();
    this.#tells = true;
  }

  delays(): LoopDelays {
    const { counts, count, sum } = this.#open();
    const buckets = bounds.map((seconds, index) => ({ seconds, count: counts[index] ?? 0 }));
    return { buckets, count, sum };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#window.disable();
  }

  #checkDelay(): void {
    const worst = this.#window.max / 1e6 - resolutionMs;
    const processor = this.#times.processor();
    const busy = processor - this.#processor;
    this.#processor = processor;
    const named = this.#named;
    this.#named = 0;
    if (worst < longTaskMs) return;
    // Resets the monitor, so that the next long delay is detected. One delay is lost, since the first after a reset
    // is not counted.
    this.#settle();
    if (worst - named < longTaskMs) return;
    // The thread was not computing: other processes had the processor, or the disk or the memory was slow.
    if (busy < worst / 2) {
      this.#logTask('event_loop_delayed', 'host', 'other programs, the disk or the memory', worst);
    } else this.#logTask('event_loop_blocked', 'unknown', `begun last: ${this.#service} ${this.#task}`, worst);
  }

  /** Returns all delays, including those of the current window. */
  #open(): { readonly counts: readonly number[]; readonly count: number; readonly sum: number } {
    const { count, max, mean } = this.#window;
    if (count === 0) return { counts: this.#counts, count: this.#count, sum: this.#sum };
    const counts = bounds.map(
      (seconds, index) =>
        (this.#counts[index] ?? 0) + upTo(this.#window, seconds * 1e9 + resolutionMs * 1e6, count, max),
    );
    const seconds = Math.max(0, ((mean / 1e6 - resolutionMs) * count) / 1000);
    return { counts, count: this.#count + count, sum: this.#sum + seconds };
  }

  #settle(): void {
    ({ counts: this.#counts, count: this.#count, sum: this.#sum } = this.#open());
    this.#window.reset();
  }

  #logTask(event: keyof typeof messages, service: string, label: string, ms: number): void {
    if (!this.#tells) return;
    const by = label.replaceAll(/\s+/g, ' ').slice(0, maxNameLength);
    const key = `${service}\n${by}`;
    const now = this.#clock.now();
    const logged = this.#logged.get(key);
    if (logged !== undefined && now - logged.at < quietMs) {
      logged.more += 1;
      return;
    }
    this.#logged.set(key, { at: now, more: 0 });
    const more = logged === undefined || logged.more === 0 ? {} : { moreSinceTold: logged.more };
    const fields = { event, service, by, milliseconds: Math.round(ms), ...more };
    if (ms < warningMs) this.#log.info(messages[event], fields);
    else this.#log.warn(messages[event], fields);
  }
}

/** Returns the number of delays of a window up to a limit in ns. */
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

/** Returns the processor time of this thread. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
