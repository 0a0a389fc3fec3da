import { SvelteSet } from 'svelte/reactivity';
import { serviceChanged } from '../../../../services/contracts/control/api.ts';
import { inboxAdded, inboxApi, inboxChanged, type InboxItem } from '../../../../services/contracts/inbox/api.ts';
import type { PushMessage, PushTopic } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';
import { coalesce } from '../../state/coalesce.ts';

/** As many as one reading brings; who has more unread ones sees the newest of them marked. */
const mostRows = 200;
/** A notification that goes to the inbox and to a topic is in both within this time, in ms. */
const apartMs = 120_000;
/** What arrives in a rush is read together, after this time in ms. */
const gatherMs = 200;

/** What the inbox and a topic both know of a message. */
type Known = Pick<PushMessage, 'topic' | 'time' | 'title'>;

/** Of one topic: how many messages nobody has read, and the highest priority of them. */
export interface UnreadOfTopic {
  /** Null: some of them at least, which the inbox has without their topic. */
  readonly count: number | null;
  readonly priority: number;
}

/** Which messages of topics are new: those that the inbox counts as unread. What is read in one place is read in the other. */
class Unread extends Loadable {
  #rows = $state.raw<readonly InboxItem[]>([]);
  readonly #keys = $derived(new Set(this.#rows.map(keyOf)));
  readonly #topics = $derived(Map.groupBy(this.#rows, ({ topic }) => topic));
  /** Read since the topic was opened: they stay marked until it is left. */
  readonly #justRead = new SvelteSet<string>();
  #watched = 0;
  readonly #soon = coalesce(gatherMs, () => void this.load());

  constructor() {
    super();
    live.on(inboxAdded, () => this.#refresh());
    live.on(inboxChanged, () => this.#refresh());
    live.on(serviceChanged, ({ id }) => {
      if (id === 'inbox') this.#refresh();
    });
    live.onReset(() => this.#refresh());
  }

  /** Follows what is read until the returned function is called. */
  watch(): () => void {
    this.#watched += 1;
    void this.load();
    return () => (this.#watched -= 1);
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(inboxApi.list, { query: { unread: true, limit: mostRows } }),
      ({ items }) => (this.#rows = items),
    );
  }

  /** This message is to be marked as new. */
  isNew(message: Known): boolean {
    const key = keyOf(message);
    return this.#keys.has(key) || this.#justRead.has(key) || this.#copyOf(message) !== undefined;
  }

  /** Undefined where everything is read. */
  of({ name, line, latest }: PushTopic): UnreadOfTopic | undefined {
    const own = this.#topics.get(name) ?? [];
    const copy = this.#copyOf({ title: line, time: latest });
    const rows = copy === undefined ? own : [...own, copy];
    return rows.length === 0
      ? undefined
      : { count: copy === undefined ? own.length : null, priority: Math.max(...rows.map(({ priority }) => priority)) };
  }

  /** These messages of a topic are before somebody's eyes: what it has is read, in the inbox as well. */
  async read(topic: string, messages: readonly PushMessage[]): Promise<void> {
    const copies = messages.flatMap((message) => this.#copyOf(message) ?? []);
    const rows = [...new Set([...(this.#topics.get(topic) ?? []), ...copies])];
    if (rows.length === 0) return;
    for (const message of messages) if (this.isNew(message)) this.#justRead.add(keyOf(message));
    this.#rows = this.#rows.filter((row) => !rows.includes(row));
    try {
      await call(inboxApi.change, { body: { ids: rows.map(({ id }) => id), read: true } });
    } catch {
      // They are new again, and are read when the topic is opened once more.
      await this.load();
    }
  }

  /** The topic is left: what was read there is marked no longer. */
  leave(): void {
    this.#justRead.clear();
  }

  /** The unread row of a notification that went to the inbox itself, and to a topic beside it. */
  #copyOf({ title, time }: Omit<Known, 'topic'>): InboxItem | undefined {
    return this.#topics.get('')?.find((row) => row.title === title && Math.abs(row.time - time) < apartMs);
  }

  #refresh(): void {
    if (this.#watched > 0) this.#soon();
  }
}

/** The inbox has a row of its own for a message, and no id of it. */
function keyOf({ topic, time, title }: Known): string {
  return `${topic} ${String(time)} ${title}`;
}

export const unread = new Unread();
