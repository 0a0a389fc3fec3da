import { z } from 'zod';
import type { Topic } from '../../../services/contracts/bus.ts';
import type { StreamNews } from './event-stream.ts';
import { shareEventStream } from './shared-stream.ts';

type Call = () => void;

/** A shorter absence, such as a restart, is not worth a banner. */
const patienceMs = 1500;
/** How long a list waits for the stream before it is read without it. */
const openWaitMs = 2000;

/** The event stream as this page hears it, read by this tab or by another one. */
class Live {
  /** `away` once the host has not answered for a while. */
  status = $state<'off' | 'connecting' | 'open' | 'away'>('off');

  readonly #listeners = new Map<string, Set<(data: unknown) => void>>();
  readonly #resets = new Set<Call>();
  readonly #closings = new Set<Call>();
  #opening = Promise.withResolvers<undefined>();
  /** Some list was read while no events arrived. */
  #readWithout = false;
  #end: Call | undefined;
  #awayTimer: ReturnType<typeof setTimeout> | undefined;

  /** Calls with each event of a topic; the returned function stops that. */
  on<T>(topic: Topic<T>, listener: (event: T) => void): Call {
    const listeners = this.#listeners.get(topic.name) ?? new Set();
    this.#listeners.set(topic.name, listeners);
    return keep(listeners, (data) => {
      const parsed = z.safeParse(topic.schema, data);
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

  /**
   * Resolves once events arrive, so that a list read then misses nothing. After a while without them it resolves all the
   * same; what is read then is read anew when they come.
   */
  async opened(): Promise<void> {
    if (this.status === 'open') return;
    await Promise.race([this.#opening.promise, new Promise((resolve) => setTimeout(resolve, openWaitMs))]);
    this.#readWithout ||= !this.#isOpen();
  }

  /** Asked anew after a wait, which the compiler does not reckon with. */
  #isOpen(): boolean {
    return this.status === 'open';
  }

  start(): void {
    if (this.status !== 'off') return;
    this.status = 'connecting';
    this.#end = shareEventStream((news) => this.#take(news));
  }

  stop(): void {
    clearTimeout(this.#awayTimer);
    this.#awayTimer = undefined;
    this.#end?.();
    this.#end = undefined;
    this.#opening = Promise.withResolvers();
    this.status = 'off';
  }

  #take(news: StreamNews): void {
    if (news.kind === 'open') this.#hasOpened();
    else if (news.kind === 'cut') this.#isCut();
    else if (news.kind === 'refused') tellAll(this.#closings, undefined);
    else if (news.kind === 'reset') tellAll(this.#resets, undefined);
    else this.#hear(news.name, news.data);
  }

  #hear(name: string, text: string): void {
    const data: unknown = JSON.parse(text);
    tellAll(this.#listeners.get(name) ?? [], data);
  }

  #hasOpened(): void {
    clearTimeout(this.#awayTimer);
    this.#awayTimer = undefined;
    this.status = 'open';
    this.#opening.resolve(undefined);
    if (!this.#readWithout) return;
    this.#readWithout = false;
    tellAll(this.#resets, undefined);
  }

  #isCut(): void {
    if (this.status === 'open') {
      this.status = 'connecting';
      this.#opening = Promise.withResolvers();
    }
    this.#awayTimer ??= setTimeout(() => (this.status = 'away'), patienceMs);
  }
}

/** A defect of one page's part is reported and keeps nothing from the others, nor from other tabs. */
function tellAll<Data>(listeners: Iterable<(data: Data) => void>, data: Data): void {
  for (const listener of listeners) {
    try {
      listener(data);
    } catch (error) {
      reportError(error);
    }
  }
}

function keep<T>(all: Set<T>, one: T): Call {
  all.add(one);
  return () => all.delete(one);
}

export const live = new Live();
