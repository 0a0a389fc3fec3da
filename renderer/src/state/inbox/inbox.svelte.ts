import * as m from '#messages/state';
import { SvelteSet } from 'svelte/reactivity';
import { compareNames } from '../../../../services/contracts/compare-names.ts';
import { serviceChanged } from '../../../../services/contracts/control/api.ts';
import { inboxAdded, inboxApi, inboxChanged, type InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { call } from '../../api/call.ts';
import { matchesFilter, groupsRepeats, mayStay, getDoneFilter, noFilter, type InboxFilter } from './list-rules.ts';
import { changeRows, splitIds, type Change, type Changed } from './changes.ts';
import { loadDownTo } from './load-down-to.ts';
import { affectsRepeats, applyCounts, mergeRepeats } from './repeats.ts';
import { live } from '../live.svelte.ts';
import { coalesce } from '../coalesce.ts';
import { toasts } from '../toasts.svelte.ts';

const pageSize = 100;
/**
 * Delay in ms in which new rows are collected, so that a thousand events in a second do not cause a thousand
 * renderings.
 */
const batchDelayMs = 100;
/** Delay in ms in which changes of other clients are collected before counts are reloaded. */
const countDelayMs = 500;
/** Maximum number of rows that arrivals add to the list; older rows are loaded again by scrolling. */
const maxRows = 2000;

/** The inbox: rows that match the filter, newest first, and the unread count. */
class Inbox {
  items = $state.raw<readonly InboxItem[]>([]);
  /** New rows that are pending while the list is paused. */
  pending = $state.raw<readonly InboxItem[]>([]);
  unread = $state(0);
  /** Number of matching rows, including those that are not loaded. */
  total = $state(0);
  sources = $state.raw<readonly string[]>([]);
  filter = $state.raw<InboxFilter>(noFilter);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  isLoadingMore = $state(false);
  /** Error of the last failed load. */
  failure = $state.raw<unknown>();
  #turn = 0;
  #isPaused = false;
  /** Too many rows were pending: the list is reloaded instead of merged. */
  #hasOverflowed = false;
  #ids = new Set<number>();
  /** Hidden rows whose removal can still be undone. */
  readonly #hiddenIds = new SvelteSet<number>();
  #arrived: InboxItem[] = [];
  #batchTimer: ReturnType<typeof setTimeout> | undefined;
  /** The host includes the unread count in events only for accounts that may see every row. */
  readonly #reloadCount = coalesce(countDelayMs, () => {
    call(inboxApi.list, { query: { limit: 1 } }).then(
      ({ unread }) => (this.unread = unread),
      (error: unknown) => toasts.showError(error),
    );
  });
  /** Rows that others repeat were removed or added; the list only shows their count. */
  readonly #reloadRepeats = coalesce(countDelayMs, () => {
    this.#loadRepeats().catch((error: unknown) => toasts.showError(error));
  });
  /** Incremented with each change or removal, to detect changes during a load. */
  #changes = 0;
  /** Events that arrived during a load, which may be newer than its result. */
  #queuedEvents: (() => void)[] | undefined;

  constructor() {
    live.on(inboxAdded, (item) => this.#applyOrQueue(() => this.#handleAdded(item)));
    live.on(inboxChanged, ({ ids, change, unread }) =>
      this.#applyOrQueue(() => this.#handleChanged(ids, change, unread)),
    );
    live.onReset(() => void this.load());
    live.on(serviceChanged, ({ id, state }) => {
      if (id === 'inbox' && state === 'up' && this.phase === 'failed') void this.load();
    });
  }

  get hasMore(): boolean {
    // A pending row that repeats another one replaces it.
    return this.items.length + this.pending.filter(({ repeated }) => repeated === undefined).length < this.total;
  }

  /** Loads the first page for a filter; a later call supersedes an earlier one. */
  async load(filter = this.filter): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    if (JSON.stringify(filter) !== JSON.stringify(this.filter)) this.phase = 'loading';
    this.filter = filter;
    await live.opened();
    this.#queuedEvents = [];
    try {
      const reply = await call(inboxApi.list, { query: this.#query() });
      if (turn !== this.#turn) return;
      this.#arrived = [];
      this.pending = [];
      this.#hasOverflowed = false;
      this.#setItems(reply.items);
      this.total = reply.total;
      this.unread = reply.unread;
      this.sources = reply.sources;
      this.phase = 'ready';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.failure = error;
      this.phase = 'failed';
    } finally {
      if (turn === this.#turn) this.#applyQueued();
    }
  }

  async loadMore(): Promise<void> {
    const before = this.items.at(-1)?.id;
    if (before === undefined || this.isLoadingMore || !this.hasMore) return;
    const turn = this.#turn;
    this.isLoadingMore = true;
    try {
      const { items } = await call(inboxApi.list, { query: { ...this.#query(), before } });
      if (turn !== this.#turn) return;
      this.#setItems([...this.items, ...items.filter(({ id }) => !this.#ids.has(id))]);
      if (items.length === 0) this.total = this.items.length + this.pending.length;
    } catch (error) {
      toasts.showError(error);
    } finally {
      this.isLoadingMore = false;
    }
  }

  /** Marks rows and the rows that they repeat. */
  async mark(ids: readonly number[] | 'all', change: Change): Promise<Changed> {
    const changed = await changeRows(ids, change, ids !== 'all' && this.#grouped);
    this.#handleChanged(ids === 'all' ? this.items.map(({ id }) => id) : ids, change, changed.unread);
    return changed;
  }

  /** Hides rows immediately and deletes them when Undo has expired. */
  remove(ids: readonly number[]): void {
    const grouped = this.#grouped;
    const removedRows = this.items.filter(({ id }) => ids.includes(id));
    for (const id of ids) this.#hiddenIds.add(id);
    this.#setItems(this.items);
    this.total -= removedRows.length;
    const showAgain = (): void => {
      for (const id of ids) this.#hiddenIds.delete(id);
    };
    toasts.show(m.messagesRemoved({ count: ids.length }), {
      undo: async () => {
        showAgain();
        await this.load(this.filter);
      },
      settle: async () => {
        try {
          // The requests are sent concurrently, because a page that is being closed cannot send one after another.
          const removals = splitIds(ids).map((part) =>
            call(inboxApi.remove, { body: { ids: part, ...(grouped && { repeats: true }) }, keepalive: true }),
          );
          for (const { unread } of await Promise.all(removals)) this.unread = Math.min(this.unread, unread);
        } catch (error) {
          showAgain();
          void this.load();
          throw error;
        }
      },
    });
  }

  /** True for a hidden row whose removal can still be undone. */
  isLeaving(id: number): boolean {
    return this.#hiddenIds.has(id);
  }

  find(id: number): InboxItem | undefined {
    return this.items.find((item) => item.id === id);
  }

  /** While paused, new rows stay pending, so that nothing moves under the pointer. */
  setPaused(paused: boolean): void {
    this.#isPaused = paused;
    if (!paused) this.showPending();
  }

  /** Shows the pending rows. */
  showPending(): void {
    if (this.pending.length === 0) return;
    if (this.#hasOverflowed) {
      void this.load();
      return;
    }
    const arrivedRows = this.pending;
    this.pending = [];
    this.#setItems(mergeRepeats(arrivedRows, this.items));
  }

  get #grouped(): boolean {
    return groupsRepeats(this.filter);
  }

  #query() {
    const { query, source, tag, priority, show } = this.filter;
    return {
      limit: pageSize,
      q: query.trim(),
      source,
      tag,
      done: getDoneFilter(this.filter),
      unread: show === 'unread' ? true : undefined,
      minPriority: priority > 1 ? priority : undefined,
      repeats: this.#grouped ? ('newest' as const) : undefined,
    };
  }

  #setItems(items: readonly InboxItem[]): void {
    this.items = this.#hiddenIds.size === 0 ? items : items.filter(({ id }) => !this.#hiddenIds.has(id));
    this.#ids = new Set(this.items.map(({ id }) => id));
    for (const { id } of this.pending) this.#ids.add(id);
  }

  #applyOrQueue(apply: () => void): void {
    if (this.#queuedEvents) this.#queuedEvents.push(apply);
    else apply();
  }

  #applyQueued(): void {
    const queued = this.#queuedEvents ?? [];
    this.#queuedEvents = undefined;
    for (const apply of queued) apply();
  }

  #handleAdded(item: InboxItem): void {
    if (this.#ids.has(item.id)) return;
    this.#ids.add(item.id);
    this.#arrived.push(item);
    this.#batchTimer ??= setTimeout(() => this.#addArrived(), batchDelayMs);
  }

  #addArrived(): void {
    this.#batchTimer = undefined;
    const arrived = this.#arrived.reverse();
    this.#arrived = [];
    this.unread += arrived.filter(({ read }) => !read).length;
    const sources = new Set([...this.sources, ...arrived.map(({ source }) => source)]);
    if (sources.size > this.sources.length) this.sources = [...sources].sort(compareNames);
    const matching = arrived
      .filter((item) => matchesFilter(item, this.filter))
      .map(({ repeated, ...item }): InboxItem =>
        this.#grouped && repeated !== undefined ? { ...item, repeated } : item,
      );
    if (matching.length === 0) return;
    this.total += matching.filter(({ repeated }) => repeated === undefined).length;
    if (this.#isPaused) {
      const waiting = mergeRepeats(matching, this.pending);
      this.#hasOverflowed ||= waiting.length > maxRows;
      this.pending = waiting.slice(0, maxRows);
      return;
    }
    const merged = mergeRepeats(matching, this.items);
    this.#setItems(merged.length > maxRows && this.items.length <= maxRows ? merged.slice(0, maxRows) : merged);
  }

  async #loadRepeats(): Promise<void> {
    const [turn, changes] = [this.#turn, this.#changes];
    const last = this.items.at(-1)?.id ?? 0;
    const { items, total } = await loadDownTo(this.#query(), last, maxRows);
    if (turn !== this.#turn) return;
    if (changes !== this.#changes) {
      // The result may contain rows that were removed since.
      this.#reloadRepeats();
      return;
    }
    // While the list is paused nothing moves, and pending rows are added separately.
    const isMissing = ({ id }: InboxItem): boolean =>
      !this.#isPaused && !this.#ids.has(id) && (id > last || !this.hasMore);
    const visibleIds = new Set(this.items.map(({ id }) => id));
    const updates = items.filter((item) => visibleIds.has(item.id) || isMissing(item));
    this.total = total - items.filter(({ id }) => this.#hiddenIds.has(id)).length;
    this.#setItems(applyCounts(this.items, updates));
  }

  #handleChanged(
    ids: readonly number[],
    change: Change & { readonly removed?: boolean | undefined },
    unread: number | null,
  ): void {
    this.#changes += 1;
    // Collected rows are counted first, because the count of the host includes them.
    if (this.#arrived.length > 0) {
      clearTimeout(this.#batchTimer);
      this.#addArrived();
    }
    if (unread === null) this.#reloadCount();
    else this.unread = unread;
    // An event without ids concerns all rows.
    if (ids.length === 0) {
      void this.load();
      return;
    }
    const changed = new Set(ids);
    const before = this.items.length;
    const isMoved = change.removed === true || change.done !== undefined;
    if (isMoved && this.#grouped && affectsRepeats(changed, this.items)) this.#reloadRepeats();
    const apply = (items: readonly InboxItem[]): InboxItem[] =>
      items.flatMap((item) => {
        if (!changed.has(item.id)) return [item];
        const next = { ...item, read: change.read ?? item.read, done: change.done ?? item.done };
        return !change.removed && mayStay(next, this.filter) ? [next] : [];
      });
    this.pending = apply(this.pending);
    this.#setItems(apply(this.items));
    if (change.removed) for (const id of ids) this.#hiddenIds.delete(id);
    this.total -= before - this.items.length;
  }
}

export const inbox = new Inbox();
