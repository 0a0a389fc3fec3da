import type { PushMessage } from '../../../../services/contracts/push/api.ts';
import { pushSearchApi } from '../../../../services/contracts/push/search.ts';
import { call, formatError } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { runExclusive } from '../../state/run-exclusive.ts';
import { pushStored } from '../../../../services/contracts/push/topics.ts';

/** What is sought in all topics. */
export interface Sought {
  readonly words: string;
  /** A topic, or a pattern with `*`; empty: all. */
  readonly topic: string;
  readonly priority: number;
  readonly tag: string;
  /** ms back from now; 0: any time. */
  readonly back: number;
}

/** The messages of all topics, the newest first, or those that are sought. */
class PushSearch {
  messages = $state.raw<readonly PushMessage[]>([]);
  phase = $state<'idle' | 'loading' | 'ready' | 'failed'>('idle');
  error = $state('');
  more = $state(false);
  #sought: Sought | undefined;
  #next: number | null = null;
  /** In a rush of messages one reading follows the other, and none runs beside it. */
  readonly #soon = runExclusive(() => this.#fresh());

  constructor() {
    // New messages join on top; what was paged to stays.
    live.on(pushStored, () => void this.#soon());
    live.onReset(() => void this.#soon());
  }

  /** Seeks; undefined: nothing is sought any more. */
  async seek(sought: Sought | undefined): Promise<void> {
    this.#sought = sought;
    if (sought === undefined) {
      this.phase = 'idle';
      this.messages = [];
      return;
    }
    if (this.phase !== 'ready') this.phase = 'loading';
    try {
      const reply = await call(pushSearchApi.search, { query: queryOf(sought) });
      if (sought !== this.#sought) return;
      this.messages = reply.messages;
      this.#page(reply.next);
      this.phase = 'ready';
    } catch (error) {
      if (sought !== this.#sought) return;
      this.error = formatError(error);
      this.phase = 'failed';
    }
  }

  /** Seeks the same once more. */
  again(): Promise<void> {
    return this.seek(this.#sought);
  }

  /** @throws Problem that says why not. */
  async loadOlder(): Promise<void> {
    const sought = this.#sought;
    if (sought === undefined || this.#next === null) return;
    const reply = await call(pushSearchApi.search, { query: { ...queryOf(sought), before: this.#next } });
    if (sought !== this.#sought) return;
    this.messages = [...this.messages, ...reply.messages];
    this.#page(reply.next);
  }

  async #fresh(): Promise<void> {
    const sought = this.#sought;
    if (sought === undefined || this.phase !== 'ready') return;
    try {
      const { messages } = await call(pushSearchApi.search, { query: queryOf(sought) });
      if (sought !== this.#sought) return;
      const newest = this.messages[0]?.seq ?? 0;
      this.messages = [...messages.filter(({ seq }) => seq > newest), ...this.messages];
    } catch (error) {
      this.error = formatError(error);
    }
  }

  #page(next: number | null): void {
    this.#next = next;
    this.more = next !== null;
  }
}

function queryOf({ words, topic, priority, tag, back }: Sought) {
  return { words, topic, priority, tag, since: back === 0 ? undefined : Date.now() - back };
}

export const pushSearch = new PushSearch();
