import type { Clock, Service } from '../../../services/contracts/service.ts';

/** Polling interval, since the end of transfers emits no event. */
const pollIntervalMs = 100;

export interface PendingRestartOptions {
  readonly service: Service;
  /** Counts the requests and connections of the service that began before a time or take long. */
  readonly requests: (begunBefore: number) => number;
  readonly clock: Clock;
  /** Time after which the restart happens despite running transfers. */
  readonly limitMs: number;
  /** Called with the number of transfers whenever it changes. */
  readonly waiting: (transfers: number) => void;
  /** Called once, when no transfer is running any more or the time is over. */
  readonly due: () => void;
}

/** Waits for the running transfers of a service before it restarts. Disposal cancels the wait, not the transfers. */
export class PendingRestart implements Disposable {
  readonly #options: PendingRestartOptions;
  readonly #since = performance.now();
  readonly #open = new DisposableStack();
  #waitingFor = 0;

  constructor(options: PendingRestartOptions) {
    this.#options = options;
  }

  /** Starts waiting; returns false when nothing is running or the limit is 0. */
  start(): boolean {
    const { service, clock, limitMs, due } = this.#options;
    if (limitMs <= 0 || this.#count() === 0) return false;
    if (service.drain !== undefined) this.#open.use(service.drain.begin());
    const timer = setInterval(() => this.#checkIdle(), pollIntervalMs).unref();
    this.#open.defer(() => clearInterval(timer));
    this.#open.use(clock.after(limitMs, due));
    this.#checkIdle();
    return true;
  }

  [Symbol.dispose](): void {
    this.#open.dispose();
  }

  #checkIdle(): void {
    const count = this.#count();
    if (count === 0) return this.#options.due();
    if (count !== this.#waitingFor) this.#options.waiting(count);
    this.#waitingFor = count;
  }

  /** A job that a request waits for is one transfer, so the counts are not added. */
  #count(): number {
    const { service, requests } = this.#options;
    return Math.max(requests(this.#since), service.drain?.running() ?? 0);
  }
}
