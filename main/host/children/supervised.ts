import * as m from '#messages/host-problems';
import type {
  RunningChild,
  SupervisedProcess,
  SupervisedState,
  SupervisionOptions,
} from '../../../services/contracts/children.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import { getExponentialDelayMs } from '../../../services/kit/backoff.ts';

const backoff = { firstMs: 1000, maxMs: 60_000 } as const;
/** Run time after which the pause is reset. */
const healthyAfterMs = 60_000;

/** Keeps a program running: restarts it when it ends, after pauses that grow while it keeps ending. */
export class SupervisedChild implements SupervisedProcess {
  readonly #start: () => Promise<RunningChild>;
  readonly #options: SupervisionOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #ended: Promise<void>;
  #state: SupervisedState = 'starting';
  #child: RunningChild | undefined;
  /** Ends since the last long run. */
  #failures = 0;
  #wake: () => void = () => undefined;
  #changed = Promise.withResolvers<void>();

  constructor(
    start: () => Promise<RunningChild>,
    options: SupervisionOptions,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    this.#start = start;
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
    this.#ended = this.#keepRunning();
  }

  get state(): SupervisedState {
    return this.#state;
  }

  async up(signal?: AbortSignal): Promise<RunningChild> {
    const result = Promise.withResolvers<never>();
    const publishState = (): void =>
      result.reject(signal?.reason instanceof Error ? signal.reason : new Error('given up'));
    signal?.addEventListener('abort', publishState, { once: true });
    try {
      for (;;) {
        signal?.throwIfAborted();
        if (this.#state === 'up' && this.#child !== undefined) return this.#child;
        if (this.#state === 'stopped') throw new Problem('child.stopped', 503, m.programStopped);
        await Promise.race([this.#changed.promise, result.promise]);
      }
    } finally {
      signal?.removeEventListener('abort', publishState);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#become('stopped', '');
    this.#wake();
    await this.#child?.stop();
    await this.#ended;
  }

  async #keepRunning(): Promise<void> {
    while (!this.#isStopped()) {
      const startedAt = this.#clock.now();
      const reason = await this.#runOnce();
      if (this.#isStopped()) return;
      this.#failures = this.#clock.now() - startedAt >= healthyAfterMs ? 1 : this.#failures + 1;
      const pauseMs = getExponentialDelayMs(backoff, this.#failures);
      this.#log.warn('child process ended, restart scheduled', { reason, pauseMs });
      this.#become('waiting', reason);
      await this.#pause(pauseMs);
    }
  }

  /** Runs the program once; returns the reason of its end. */
  async #runOnce(): Promise<string> {
    this.#become('starting', '');
    let child: RunningChild;
    try {
      child = await this.#start();
    } catch (error) {
      return getReason(error);
    }
    this.#child = child;
    if (this.#isStopped()) await child.stop();
    try {
      const isReady = await Promise.race([this.#options.ready(child).then(() => true), child.exited.then(() => false)]);
      if (isReady) this.#become('up', '');
    } catch (error) {
      await child.stop();
      this.#child = undefined;
      return getReason(error);
    }
    const { code, signal } = await child.exited;
    this.#child = undefined;
    return signal === null ? `it ended with code ${String(code)}` : `it was ended by ${signal}`;
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    using _timer = this.#clock.after(ms, resolve);
    await promise;
  }

  #isStopped(): boolean {
    return this.#state === 'stopped';
  }

  #become(state: SupervisedState, reason: string): void {
    if (this.#isStopped() || this.#state === state) return;
    this.#state = state;
    this.#options.onState?.(state, reason);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function getReason(error: unknown): string {
  return error instanceof Problem ? error.detail : error instanceof Error ? error.message : String(error);
}
