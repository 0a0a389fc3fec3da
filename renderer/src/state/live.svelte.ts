import { z } from 'zod';
import type { ApiRoute } from '../../../services/contracts/api.ts';
import type { Topic } from '../../../services/contracts/bus.ts';
import { getLocale } from '../../../messages/language.ts';
import { hasHostTexts } from '../api/reply-language.ts';
import type { StreamEvent, StreamStart } from './event-stream.ts';
import { shareEventStream } from './shared-stream.ts';

type Callback = () => void;

/** Time without a connection before the page shows a banner; restarts are shorter. */
const awayDelayMs = 1500;
/** Maximum time that a list waits for the stream before it is loaded without it. */
const openTimeoutMs = 2000;

/** The event stream of this page, read by this tab or relayed by another one. */
class Live {
  /** `away` after the host has not responded for a while. */
  status = $state<'off' | 'connecting' | 'open' | 'away'>('off');

  readonly #listeners = new Map<string, Set<(data: unknown) => void>>();
  readonly #resets = new Set<Callback>();
  readonly #closings = new Set<Callback>();
  readonly #languageListeners = new Set<Callback>();
  #opening = Promise.withResolvers<undefined>();
  /** True after a list was loaded while no events arrived. */
  #loadedWithoutStream = false;
  #end: Callback | undefined;
  /** ID of the last received event; empty when there was none. */
  #lastId = '';
  #awayTimer: ReturnType<typeof setTimeout> | undefined;

  /** Calls the listener with each event of a topic. Returns a function that removes it. */
  on<T>(topic: Topic<T>, listener: (event: T) => void): Callback {
    const listeners = this.#listeners.get(topic.name) ?? new Set();
    this.#listeners.set(topic.name, listeners);
    return addTo(listeners, (data) => {
      const parsed = z.safeParse(topic.schema, data);
      if (parsed.success) listener(parsed.data);
    });
  }

  /** Calls the listener when missed events are no longer available and lists must be reloaded. */
  onReset(listener: Callback): Callback {
    return addTo(this.#resets, listener);
  }

  /**
   * Calls the listener after a change of the language when the latest reply of one of the routes contains texts of the
   * host, which must be requested again. Data without such texts stays.
   */
  onLanguageChange(routes: readonly ApiRoute<any, any, any>[], listener: Callback): Callback {
    return addTo(this.#languageListeners, () => {
      if (routes.some(hasHostTexts)) listener();
    });
  }

  /** Calls the listener after a change of the language while a text of the host is shown, such as an error. */
  onTextChange(listener: Callback): Callback {
    return addTo(this.#languageListeners, listener);
  }

  /** Reads the stream in the language that the page has now, from the last event on, and requests texts again. */
  changeLanguage(): void {
    if (this.#end !== undefined) {
      this.#end();
      this.#share({ lastId: this.#lastId, gap: true });
    }
    notifyAll(this.#languageListeners, undefined);
  }

  /** Calls the listener when the host refused the stream: the session may have ended. */
  onClosed(listener: Callback): Callback {
    return addTo(this.#closings, listener);
  }

  /**
   * Resolves once events arrive, so that a list that is loaded then misses none. It also resolves after a timeout;
   * the lists are then reloaded when events arrive.
   */
  async opened(): Promise<void> {
    if (this.status === 'open') return;
    await Promise.race([this.#opening.promise, new Promise((resolve) => setTimeout(resolve, openTimeoutMs))]);
    // A stream that is resumed after an event brings what happened in the meantime.
    this.#loadedWithoutStream ||= !this.#isOpen() && this.#lastId === '';
  }

  /** Reads the status again after an await, because the compiler narrows the earlier value. */
  #isOpen(): boolean {
    return this.status === 'open';
  }

  start(): void {
    if (this.status !== 'off') return;
    this.status = 'connecting';
    this.#share({ lastId: '', gap: false });
  }

  stop(): void {
    clearTimeout(this.#awayTimer);
    this.#awayTimer = undefined;
    this.#end?.();
    this.#end = undefined;
    this.#lastId = '';
    this.#opening = Promise.withResolvers();
    this.status = 'off';
  }

  #share(start: StreamStart): void {
    this.#end = shareEventStream(getLocale(), start, (event) => this.#handle(event));
  }

  #handle(event: StreamEvent): void {
    if ('id' in event) this.#lastId = event.id;
    if (event.kind === 'open') this.#handleOpen();
    else if (event.kind === 'cut') this.#handleCut();
    else if (event.kind === 'refused') notifyAll(this.#closings, undefined);
    else if (event.kind === 'reset') notifyAll(this.#resets, undefined);
    else if (event.kind === 'event') this.#dispatch(event.name, event.data);
  }

  #dispatch(name: string, text: string): void {
    const data: unknown = JSON.parse(text);
    notifyAll(this.#listeners.get(name) ?? [], data);
  }

  #handleOpen(): void {
    clearTimeout(this.#awayTimer);
    this.#awayTimer = undefined;
    this.status = 'open';
    this.#opening.resolve(undefined);
    if (!this.#loadedWithoutStream) return;
    this.#loadedWithoutStream = false;
    notifyAll(this.#resets, undefined);
  }

  #handleCut(): void {
    if (this.status === 'open') {
      this.status = 'connecting';
      this.#opening = Promise.withResolvers();
    }
    this.#awayTimer ??= setTimeout(() => (this.status = 'away'), awayDelayMs);
  }
}

/** An error in one listener is reported and affects neither other listeners nor other tabs. */
function notifyAll<Data>(listeners: Iterable<(data: Data) => void>, data: Data): void {
  for (const listener of listeners) {
    try {
      listener(data);
    } catch (error) {
      reportError(error);
    }
  }
}

function addTo<T>(all: Set<T>, member: T): Callback {
  all.add(member);
  return () => all.delete(member);
}

export const live = new Live();
