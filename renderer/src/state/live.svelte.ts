import type { Topic } from '../../../services/contracts/bus.ts';
import { liveTopics, resetEvent } from '../../../services/contracts/live.ts';

type Call = () => void;

/** Waits before a stream that the browser gave up is opened anew, in ms; the last repeats. */
const backoff = [1000, 2000, 5000, 10_000, 30_000];
/** A shorter absence, such as a restart, is not worth a banner. */
const patienceMs = 1500;
/** How long a list waits for the stream before it is read without it. */
const openWaitMs = 2000;

/**
 * The one event stream of this page. The browser itself resumes after a cut connection; where it gives up (an answer
 * other than 200), the stream is opened anew with the last id in the address.
 */
class Live {
  /** `away` once the host has not answered for a while. */
  status = $state<'off' | 'connecting' | 'open' | 'away'>('off');

  readonly #listeners = new Map<string, Set<(data: unknown) => void>>();
  readonly #resets = new Set<Call>();
  readonly #closings = new Set<Call>();
  #opening = Promise.withResolvers<undefined>();
  #source: EventSource | undefined;
  #lastId = '';
  #failures = 0;
  #awayTimer: ReturnType<typeof setTimeout> | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;

  /** Calls with each event of a topic; the returned function stops that. */
  on<T>(topic: Topic<T>, listener: (event: T) => void): Call {
    const listeners = this.#listeners.get(topic.name) ?? new Set();
    this.#listeners.set(topic.name, listeners);
    return keep(listeners, (data) => {
      const parsed = topic.schema.safeParse(data);
      if (parsed.success) listener(parsed.data);
    });
  }

  /** Calls when what was missed is not known any more, so that lists must be read anew. */
  onReset(listener: Call): Call {
    return keep(this.#resets, listener);
  }

  /** Calls when the host refused the stream: the session may be over. */
  onClosed(listener: Call): Call {
    return keep(this.#closings, listener);
  }

  /** Resolves once events arrive, or after a short while without them, so that a list read then misses nothing. */
  async opened(): Promise<void> {
    if (this.status === 'open') return;
    await Promise.race([this.#opening.promise, new Promise((resolve) => setTimeout(resolve, openWaitMs))]);
  }

  start(): void {
    if (this.status === 'off') this.#connect();
  }

  stop(): void {
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#awayTimer);
    this.#awayTimer = undefined;
    this.#source?.close();
    this.#source = undefined;
    this.#lastId = '';
    this.#failures = 0;
    this.#opening = Promise.withResolvers();
    this.status = 'off';
  }

  #connect(): void {
    const query = this.#lastId === '' ? '' : `?lastEventId=${encodeURIComponent(this.#lastId)}`;
    const source = new EventSource(`/api/events${query}`);
    this.#source = source;
    if (this.status === 'off') this.status = 'connecting';
    source.onopen = () => this.#hasOpened();
    source.onerror = () => this.#hasFailed(source);
    source.addEventListener(resetEvent, (event) => {
      this.#lastId = event.lastEventId;
      for (const listener of this.#resets) listener();
    });
    for (const { name } of liveTopics) source.addEventListener(name, (event) => this.#take(name, event));
  }

  #take(name: string, event: MessageEvent<string>): void {
    this.#lastId = event.lastEventId;
    const data: unknown = JSON.parse(event.data);
    for (const listener of this.#listeners.get(name) ?? []) listener(data);
  }

  #hasOpened(): void {
    // Opened anew without an id to resume from: anything may have been missed.
    if (this.#failures > 0 && this.#lastId === '') for (const listener of this.#resets) listener();
    this.#failures = 0;
    clearTimeout(this.#awayTimer);
    this.#awayTimer = undefined;
    this.status = 'open';
    this.#opening.resolve(undefined);
  }

  #hasFailed(source: EventSource): void {
    if (this.status === 'open') {
      this.status = 'connecting';
      this.#opening = Promise.withResolvers();
    }
    this.#awayTimer ??= setTimeout(() => (this.status = 'away'), patienceMs);
    if (source.readyState !== EventSource.CLOSED || source !== this.#source) return;
    for (const listener of this.#closings) listener();
    const wait = backoff[Math.min(this.#failures, backoff.length - 1)];
    this.#failures += 1;
    this.#retryTimer = setTimeout(() => this.#connect(), wait);
  }
}

function keep<T>(all: Set<T>, one: T): Call {
  all.add(one);
  return () => all.delete(one);
}

export const live = new Live();
