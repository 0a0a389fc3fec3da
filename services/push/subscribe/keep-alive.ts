import type { Context } from '../../contracts/service.ts';
import { parseDuration } from '../domain/duration.ts';
import { buildStreamEvent } from './stream-event.ts';
import type { Subscribers } from './subscribers.ts';

const defaultIntervalMs = 45_000;
/** Milliseconds after an unanswered ping until the connection is closed. */
export const pongTimeoutMs = 60_000;

/** Sends keepalive events to all streams, and closes WebSocket streams that do not answer pings. */
export class KeepAlive implements Disposable {
  readonly #context: Pick<Context, 'clock' | 'log' | 'random'>;
  readonly #subscribers: Subscribers;
  readonly #interval: () => string;
  #timer: Disposable | undefined;
  #currentInterval = '';

  /** @param interval Returns the duration of the settings */
  constructor(context: Pick<Context, 'clock' | 'log' | 'random'>, subscribers: Subscribers, interval: () => string) {
    this.#context = context;
    this.#subscribers = subscribers;
    this.#interval = interval;
  }

  start(): void {
    this.#timer?.[Symbol.dispose]();
    this.#currentInterval = this.#interval();
    const intervalMs = parseDuration(this.#currentInterval) ?? defaultIntervalMs;
    this.#timer = this.#context.clock.every(intervalMs, () => this.#run());
  }

  /** Applies a changed interval; does nothing before the start. */
  reconfigure(): void {
    if (this.#timer === undefined || this.#currentInterval === this.#interval()) return;
    this.start();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #run(): void {
    const { clock, log } = this.#context;
    // The expiry of a token is not announced as an account change.
    this.#subscribers.recheck();
    void this.#subscribers
      .keepAlive(({ subscription }) => buildStreamEvent('keepalive', subscription.topicList, this.#context))
      .catch((error: unknown) => log.error('upkeep failed', { error }));
    clock.after(pongTimeoutMs, () => this.#subscribers.checkPongs());
  }
}
