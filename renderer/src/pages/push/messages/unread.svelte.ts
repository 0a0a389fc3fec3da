import { SvelteSet } from 'svelte/reactivity';
import { serviceChanged } from '../../../../../services/contracts/control/api.ts';
import {
  inboxAdded,
  inboxApi,
  inboxChanged,
  type InboxItem,
  type UnreadTopic,
} from '../../../../../services/contracts/inbox/api.ts';
import type { PushMessage, PushTopic } from '../../../../../services/contracts/push/api.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';
import { coalesce } from '../../../state/coalesce.ts';

/** Maximum number of rows in one call. In lists of all topics only the newest unread messages are marked as new. */
const maxRows = 200;
/** Maximum time in ms between the two copies of a notification that is sent to the inbox and to a topic. */
const maxCopyDistanceMs = 120_000;
/** Delay in ms to load the rows of a burst together. */
const batchDelayMs = 200;

/** Fields of a message that both the inbox and the topic have. */
type MessageFields = Pick<PushMessage, 'topic' | 'time' | 'title'>;

/** Unread messages of one topic: their number and highest priority. */
export interface UnreadOfTopic {
  /** Null when the number is unknown, because the inbox has some of the messages without their topic. */
  readonly count: number | null;
  readonly priority: number;
}

/**
 * New messages of topics, which are those that the inbox counts as unread. A message that is read in one place is
 * read in the other.
 */
class Unread extends Loadable {
  /** Newest unread rows of all topics and sources. */
  #rows = $state.raw<readonly InboxItem[]>([]);
  /** Unread rows of the open topic, which may be older; undefined until they are loaded. */
  #openRows = $state.raw<readonly InboxItem[] | undefined>();
  /** Number and highest priority of the unread rows by topic. */
  #topics = $state.raw<ReadonlyMap<string, UnreadTopic>>(new Map());
  readonly #keys = $derived(new Set([...this.#rows, ...(this.#openRows ?? [])].map(buildKey)));
  readonly #rowsWithoutTopic = $derived(this.#rows.filter(({ topic }) => topic === ''));
  #openTopic = '';
  /** Messages that were read while the topic is open; they stay marked until it is closed. */
  readonly #justRead = new SvelteSet<string>();
  #observers = 0;
  readonly #loadOnce = coalesce(batchDelayMs, () => void this.load());

  constructor() {
    super();
    live.on(inboxAdded, () => this.#refresh());
    live.on(inboxChanged, () => this.#refresh());
    live.on(serviceChanged, ({ id }) => {
      if (id === 'inbox') this.#refresh();
    });
    live.onReset(() => this.#refresh());
  }

  /** Keeps the state up to date until the returned function is called. */
  observe(): () => void {
    this.#observers += 1;
    void this.load();
    return () => (this.#observers -= 1);
  }

  async load(): Promise<void> {
    const topic = this.#openTopic;
    await this.readLatest(
      () =>
        Promise.all([
          call(inboxApi.unreadTopics),
          call(inboxApi.list, { query: { unread: true, limit: maxRows } }),
          topic === '' ? undefined : call(inboxApi.list, { query: { unread: true, topic, limit: maxRows } }),
        ]),
      ([{ topics }, { items }, openTopic]) => {
        this.#topics = new Map(topics.map((each) => [each.topic, each]));
        this.#rows = items;
        if (topic === this.#openTopic) this.#openRows = openTopic?.items;
      },
    );
  }

  /** True for a message that is marked as new. */
  isNew(message: MessageFields): boolean {
    const key = buildKey(message);
    return this.#keys.has(key) || this.#justRead.has(key) || this.#findCopy(message) !== undefined;
  }

  /** Returns the unread state of a topic; undefined when everything is read. */
  getState({ name, line, latest }: PushTopic): UnreadOfTopic | undefined {
    const unreadTopic = this.#topics.get(name);
    const copy = this.#findCopy({ title: line, time: latest });
    if (unreadTopic === undefined && copy === undefined) return undefined;
    return {
      count: copy === undefined ? (unreadTopic?.count ?? null) : null,
      priority: Math.max(unreadTopic?.priority ?? 1, copy?.priority ?? 1),
    };
  }

  /** Loads the unread messages of the topic that is opened. */
  async openTopic(topic: string): Promise<void> {
    this.#openTopic = topic;
    await this.load();
  }

  /** Marks all messages of a topic as read, in the inbox as well, when its newest messages are visible. */
  async markRead(topic: string, messages: readonly PushMessage[]): Promise<void> {
    const copies = [...new Set(messages.flatMap((message) => this.#findCopy(message) ?? []))];
    const hasUnread = this.#topics.has(topic);
    // The rows that mark the visible messages as new are loaded first.
    if ((!hasUnread && copies.length === 0) || this.#openRows === undefined) return;
    for (const message of messages) if (this.isNew(message)) this.#justRead.add(buildKey(message));
    this.#topics = new Map([...this.#topics].filter(([name]) => name !== topic));
    this.#rows = this.#rows.filter((row) => row.topic !== topic && !copies.includes(row));
    this.#openRows = [];
    try {
      await Promise.all([
        hasUnread ? call(inboxApi.change, { body: { ids: 'all', topic, read: true } }) : undefined,
        copies.length > 0
          ? call(inboxApi.change, { body: { ids: copies.map(({ id }) => id), read: true } })
          : undefined,
      ]);
    } catch {
      // The messages become unread again and are marked as read when the topic is opened again.
      await this.load();
    }
  }

  /** Clears the marks of the topic that is closed. */
  closeTopic(): void {
    this.#openTopic = '';
    this.#openRows = undefined;
    this.#justRead.clear();
  }

  /** Finds the unread inbox row of a notification that went to both the inbox and a topic. */
  #findCopy({ title, time }: Omit<MessageFields, 'topic'>): InboxItem | undefined {
    return this.#rowsWithoutTopic.find((row) => row.title === title && Math.abs(row.time - time) < maxCopyDistanceMs);
  }

  #refresh(): void {
    if (this.#observers > 0) this.#loadOnce();
  }
}

/** Builds a key from common fields, because inbox rows do not have the message's id. */
function buildKey({ topic, time, title }: MessageFields): string {
  return `${topic} ${String(time)} ${title}`;
}

export const unread = new Unread();
