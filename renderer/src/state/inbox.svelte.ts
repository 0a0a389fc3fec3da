import { serviceChanged } from '../../../services/contracts/control.ts';
import { inboxAdded, inboxApi, inboxChanged, type InboxItem } from '../../../services/contracts/inbox.ts';
import { call, sentence } from '../api/call.ts';
import { belongs, hasPlace, wantsDone, type InboxFilter } from './inbox-rules.ts';
import { live } from './live.svelte.ts';

const pageSize = 50;

/** The inbox: the rows that fit the filter, newest first, and the count of unread ones. */
class Inbox {
  items = $state<InboxItem[]>([]);
  unread = $state(0);
  /** Rows that fit the filter, also those that are not loaded. */
  total = $state(0);
  sources = $state<string[]>([]);
  filter = $state<InboxFilter>({ words: '', source: '', show: 'open' });
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  loadingMore = $state(false);
  trouble = $state('');
  #turn = 0;
  /** Events that came while a list was on its way; they may be newer than it. */
  #late: (() => void)[] | undefined;

  constructor() {
    live.on(inboxAdded, (item) => this.#soon(() => this.#added(item)));
    live.on(inboxChanged, ({ ids, change, unread }) => this.#soon(() => this.#changed(ids, change, unread)));
    live.onReset(() => void this.load(this.filter));
    live.on(serviceChanged, ({ id, state }) => {
      if (id === 'inbox' && state === 'up' && this.phase === 'failed') void this.load(this.filter);
    });
  }

  get more(): boolean {
    return this.items.length < this.total;
  }

  /** Reads the first page for a filter; a later call overtakes an earlier one. */
  async load(filter: InboxFilter): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    if (JSON.stringify(filter) !== JSON.stringify(this.filter)) this.phase = 'loading';
    this.filter = filter;
    await live.opened();
    this.#late = [];
    try {
      const reply = await call(inboxApi.list, { query: this.#query() });
      if (turn !== this.#turn) return;
      this.items = reply.items;
      this.total = reply.total;
      this.unread = reply.unread;
      this.sources = reply.sources;
      this.phase = 'ready';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.trouble = sentence(error);
      this.phase = 'failed';
    } finally {
      if (turn === this.#turn) this.#catchUp();
    }
  }

  async loadMore(): Promise<void> {
    const before = this.items.at(-1)?.id;
    if (before === undefined || this.loadingMore) return;
    const turn = this.#turn;
    this.loadingMore = true;
    try {
      const { items } = await call(inboxApi.list, { query: { ...this.#query(), before } });
      if (turn === this.#turn) this.items.push(...items.filter(({ id }) => !this.items.some((item) => item.id === id)));
      if (items.length === 0) this.total = this.items.length;
    } finally {
      this.loadingMore = false;
    }
  }

  async mark(ids: readonly number[] | 'all', change: { read?: boolean; done?: boolean }): Promise<void> {
    const { unread } = await call(inboxApi.change, { body: { ids: ids === 'all' ? ids : [...ids], ...change } });
    const known = ids === 'all' ? this.items.map(({ id }) => id) : ids;
    this.#changed(known, change, unread);
  }

  async remove(id: number): Promise<void> {
    const { unread } = await call(inboxApi.remove, { body: { ids: [id] } });
    this.#changed([id], { removed: true }, unread);
  }

  #query() {
    const { words, source, show } = this.filter;
    const unread = show === 'unread' ? true : undefined;
    return { limit: pageSize, q: words.trim(), source, done: wantsDone(this.filter), unread };
  }

  #soon(apply: () => void): void {
    if (this.#late) this.#late.push(apply);
    else apply();
  }

  #catchUp(): void {
    const late = this.#late ?? [];
    this.#late = undefined;
    for (const apply of late) apply();
  }

  #added(item: InboxItem): void {
    if (this.items.some(({ id }) => id === item.id)) return;
    if (!item.read) this.unread += 1;
    if (!this.sources.includes(item.source)) this.sources = [...this.sources, item.source].sort();
    if (!belongs(item, this.filter)) return;
    this.items.unshift(item);
    this.total += 1;
  }

  #changed(
    ids: readonly number[],
    change: { read?: boolean | undefined; done?: boolean | undefined; removed?: boolean | undefined },
    unread: number,
  ): void {
    this.unread = unread;
    // No ids: every row there is.
    if (ids.length === 0) void this.load(this.filter);
    for (const id of ids) {
      const index = this.items.findIndex((item) => item.id === id);
      const item = this.items[index];
      if (!item) continue;
      item.read = change.read ?? item.read;
      item.done = change.done ?? item.done;
      if (!change.removed && hasPlace(item, this.filter)) continue;
      this.items.splice(index, 1);
      this.total -= 1;
    }
  }
}

export const inbox = new Inbox();
