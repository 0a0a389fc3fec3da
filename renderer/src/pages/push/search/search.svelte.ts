import type { PushMessage } from '../../../../../services/contracts/push/api.ts';
import { pushSearchApi } from '../../../../../services/contracts/push/search.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { runExclusive } from '../../../state/run-exclusive.ts';
import { pushStored } from '../../../../../services/contracts/push/topics.ts';

/** Filters of the search in all topics. */
export interface SearchFilters {
  readonly text: string;
  /** Name of a topic, or a pattern with `*`; empty for all topics. */
  readonly topic: string;
  readonly priority: number;
  readonly tag: string;
  /** Age in ms; 0 for any time. */
  readonly back: number;
}

/** Messages of all topics, newest first, optionally filtered. */
class PushSearch {
  messages = $state.raw<readonly PushMessage[]>([]);
  phase = $state<'idle' | 'loading' | 'ready' | 'failed'>('idle');
  /** Error of the last failed load. */
  failure = $state.raw<unknown>();
  hasOlder = $state(false);
  #filters: SearchFilters | undefined;
  #next: number | null = null;
  /** During bursts of messages, reloads run one after the other. */
  readonly #reloadOnce = runExclusive(() => this.#reload());

  constructor() {
    // New messages are added at the top; older pages stay.
    live.on(pushStored, () => void this.#reloadOnce());
    live.onReset(() => void this.#reloadOnce());
  }

  /** Searches with these filters; undefined clears the result. */
  async seek(filters: SearchFilters | undefined): Promise<void> {
    this.#filters = filters;
    if (filters === undefined) {
      this.phase = 'idle';
      this.messages = [];
      return;
    }
    if (this.phase !== 'ready') this.phase = 'loading';
    try {
      const reply = await call(pushSearchApi.search, { query: toQuery(filters) });
      if (filters !== this.#filters) return;
      this.messages = reply.messages;
      this.#setNext(reply.next);
      this.phase = 'ready';
    } catch (error) {
      if (filters !== this.#filters) return;
      this.failure = error;
      this.phase = 'failed';
    }
  }

  /** Repeats the search. */
  retry(): Promise<void> {
    return this.seek(this.#filters);
  }

  /**
   * Loads the next page.
   * @throws Problem
   */
  async loadOlder(): Promise<void> {
    const filters = this.#filters;
    if (filters === undefined || this.#next === null) return;
    const reply = await call(pushSearchApi.search, { query: { ...toQuery(filters), before: this.#next } });
    if (filters !== this.#filters) return;
    this.messages = [...this.messages, ...reply.messages];
    this.#setNext(reply.next);
  }

  async #reload(): Promise<void> {
    const filters = this.#filters;
    if (filters === undefined || this.phase !== 'ready') return;
    try {
      const { messages } = await call(pushSearchApi.search, { query: toQuery(filters) });
      if (filters !== this.#filters) return;
      const newest = this.messages[0]?.seq ?? 0;
      this.messages = [...messages.filter(({ seq }) => seq > newest), ...this.messages];
    } catch (error) {
      this.failure = error;
    }
  }

  #setNext(next: number | null): void {
    this.#next = next;
    this.hasOlder = next !== null;
  }
}

function toQuery({ text, topic, priority, tag, back }: SearchFilters) {
  return { words: text, topic, priority, tag, since: back === 0 ? undefined : Date.now() - back };
}

export const pushSearch = new PushSearch();
