import { SvelteSet } from 'svelte/reactivity';
import { serviceChanged } from '../../../../services/contracts/control/api.ts';
import { inboxAdded, inboxApi, inboxChanged, type InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { call, formatError } from '../../api/call.ts';
import { belongs, groups, hasPlace, wantsDone, wholeInbox, type InboxFilter } from './list-rules.ts';
import { changeRows, partsOf, type Change, type Changed } from './changes.ts';
import { readDown } from './read-down.ts';
import { touchesRuns, withCounts, withRepeats } from './repeats.ts';
import { messages } from './labels.ts';
import { live } from '../../state/live.svelte.ts';
import { coalesce } from '../../state/coalesce.ts';
import { toasts } from '../../state/toasts.svelte.ts';

const pageSize = 100;
/** New rows are put in together, at most this often, in ms: a thousand a second must not draw a thousand times. */
const gatherMs = 100;
/** Changes of others are counted together, after this time in ms. */
const countMs = 500;
/** A list that only grows by arrivals forgets its oldest rows beyond this; scrolling reads them again. */
const keepRows = 2000;

/** The inbox: the rows that fit the filter, newest first, and the count of unread ones. */
class Inbox {
  items = $state.raw<readonly InboxItem[]>([]);
  /** New rows that wait, because the list is being pointed at. */
  waiting = $state.raw<readonly InboxItem[]>([]);
  unread = $state(0);
  /** Rows that fit the filter, also those that are not loaded. */
  total = $state(0);
  sources = $state.raw<readonly string[]>([]);
  filter = $state.raw<InboxFilter>(wholeInbox);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  loadingMore = $state(false);
  error = $state('');
  #turn = 0;
  #holding = false;
  /** More waited than is kept: the list is read anew instead of put together. */
  #overflowed = false;
  #ids = new Set<number>();
  /** Rows taken out of sight whose removal can still be taken back. */
  readonly #leaving = new SvelteSet<number>();
  #arrived: InboxItem[] = [];
  #gathering: ReturnType<typeof setTimeout> | undefined;
  /** The host tells the count with the change only to those who may see every row. */
  readonly #countSoon = coalesce(countMs, () => {
    call(inboxApi.list, { query: { limit: 1 } }).then(
      ({ unread }) => (this.unread = unread),
      (error: unknown) => toasts.showError(error),
    );
  });
  /** Some that others repeat went or came back, of which the list shows no more than the count. */
  readonly #recountSoon = coalesce(countMs, () => {
    this.#recount().catch((error: unknown) => toasts.showError(error));
  });
  /** Counts what has changed or gone, so that one knows whether it did while something was read. */
  #changes = 0;
  /** Events that came while a list was on its way; they may be newer than it. */
  #late: (() => void)[] | undefined;

  constructor() {
    live.on(inboxAdded, (item) => this.#soon(() => this.#added(item)));
    live.on(inboxChanged, ({ ids, change, unread }) => this.#soon(() => this.#changed(ids, change, unread)));
    live.onReset(() => void this.load());
    live.on(serviceChanged, ({ id, state }) => {
      if (id === 'inbox' && state === 'up' && this.phase === 'failed') void this.load();
    });
  }

  get more(): boolean {
    // One that waits and repeats a row takes that row's place.
    return this.items.length + this.waiting.filter(({ repeated }) => repeated === undefined).length < this.total;
  }

  /** Reads the first page for a filter; a later call overtakes an earlier one. */
  async load(filter = this.filter): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    if (JSON.stringify(filter) !== JSON.stringify(this.filter)) this.phase = 'loading';
    this.filter = filter;
    await live.opened();
    this.#late = [];
    try {
      const reply = await call(inboxApi.list, { query: this.#query() });
      if (turn !== this.#turn) return;
      this.#arrived = [];
      this.waiting = [];
      this.#overflowed = false;
      this.#show(reply.items);
      this.total = reply.total;
      this.unread = reply.unread;
      this.sources = reply.sources;
      this.phase = 'ready';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.error = formatError(error);
      this.phase = 'failed';
    } finally {
      if (turn === this.#turn) this.#catchUp();
    }
  }

  async loadMore(): Promise<void> {
    const before = this.items.at(-1)?.id;
    if (before === undefined || this.loadingMore || !this.more) return;
    const turn = this.#turn;
    this.loadingMore = true;
    try {
      const { items } = await call(inboxApi.list, { query: { ...this.#query(), before } });
      if (turn !== this.#turn) return;
      this.#show([...this.items, ...items.filter(({ id }) => !this.#ids.has(id))]);
      if (items.length === 0) this.total = this.items.length + this.waiting.length;
    } catch (error) {
      toasts.showError(error);
    } finally {
      this.loadingMore = false;
    }
  }

  /** Marks rows, and what they are repeats of, as somebody does who opens one. */
  async mark(ids: readonly number[] | 'all', change: Change): Promise<Changed> {
    const changed = await changeRows(ids, change, ids !== 'all' && this.#grouped);
    this.#changed(ids === 'all' ? this.items.map(({ id }) => id) : ids, change, changed.unread);
    return changed;
  }

  /** Takes rows out of sight at once; they are removed for good when the way back is gone. */
  remove(ids: readonly number[]): void {
    const grouped = this.#grouped;
    const gone = this.items.filter(({ id }) => ids.includes(id));
    for (const id of ids) this.#leaving.add(id);
    this.#show(this.items);
    this.total -= gone.length;
    const stay = (): void => {
      for (const id of ids) this.#leaving.delete(id);
    };
    toasts.show(`${messages(ids.length)} removed.`, {
      undo: async () => {
        stay();
        await this.load(this.filter);
      },
      settle: async () => {
        try {
          // All at once: a page that goes does not live to send a second one after the first was answered.
          const removals = partsOf(ids).map((part) =>
            call(inboxApi.remove, { body: { ids: part, ...(grouped && { repeats: true }) }, keepalive: true }),
          );
          for (const { unread } of await Promise.all(removals)) this.unread = Math.min(this.unread, unread);
        } catch (error) {
          stay();
          void this.load();
          throw error;
        }
      },
    });
  }

  /** Whether a row was taken out of sight, and that can still be taken back. */
  isLeaving(id: number): boolean {
    return this.#leaving.has(id);
  }

  find(id: number): InboxItem | undefined {
    return this.items.find((item) => item.id === id);
  }

  /** While held, new rows wait: nothing moves under the pointer. */
  hold(holding: boolean): void {
    this.#holding = holding;
    if (!holding) this.release();
  }

  /** Lets the waiting rows in. */
  release(): void {
    if (this.waiting.length === 0) return;
    if (this.#overflowed) {
      void this.load();
      return;
    }
    const came = this.waiting;
    this.waiting = [];
    this.#show(withRepeats(came, this.items));
  }

  get #grouped(): boolean {
    return groups(this.filter);
  }

  #query() {
    const { words, source, tag, priority, show } = this.filter;
    return {
      limit: pageSize,
      q: words.trim(),
      source,
      tag,
      done: wantsDone(this.filter),
      unread: show === 'unread' ? true : undefined,
      minPriority: priority > 1 ? priority : undefined,
      repeats: this.#grouped ? ('newest' as const) : undefined,
    };
  }

  #show(items: readonly InboxItem[]): void {
    this.items = this.#leaving.size === 0 ? items : items.filter(({ id }) => !this.#leaving.has(id));
    this.#ids = new Set(this.items.map(({ id }) => id));
    for (const { id } of this.waiting) this.#ids.add(id);
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
    if (this.#ids.has(item.id)) return;
    this.#ids.add(item.id);
    this.#arrived.push(item);
    this.#gathering ??= setTimeout(() => this.#gather(), gatherMs);
  }

  #gather(): void {
    this.#gathering = undefined;
    const arrived = this.#arrived.reverse();
    this.#arrived = [];
    this.unread += arrived.filter(({ read }) => !read).length;
    const sources = new Set([...this.sources, ...arrived.map(({ source }) => source)]);
    if (sources.size > this.sources.length) this.sources = [...sources].sort();
    const fit = arrived
      .filter((item) => belongs(item, this.filter))
      .map(({ repeated, ...item }): InboxItem =>
        this.#grouped && repeated !== undefined ? { ...item, repeated } : item,
      );
    if (fit.length === 0) return;
    this.total += fit.filter(({ repeated }) => repeated === undefined).length;
    if (this.#holding) {
      const waiting = withRepeats(fit, this.waiting);
      this.#overflowed ||= waiting.length > keepRows;
      this.waiting = waiting.slice(0, keepRows);
      return;
    }
    const grown = withRepeats(fit, this.items);
    this.#show(grown.length > keepRows && this.items.length <= keepRows ? grown.slice(0, keepRows) : grown);
  }

  async #recount(): Promise<void> {
    const [turn, changes] = [this.#turn, this.#changes];
    const last = this.items.at(-1)?.id ?? 0;
    const { items, total } = await readDown(this.#query(), last, keepRows);
    if (turn !== this.#turn) return;
    if (changes !== this.#changes) {
      // It may hold what went since.
      this.#recountSoon();
      return;
    }
    // Under the pointer nothing moves, and what waits comes in by itself.
    const isMissing = ({ id }: InboxItem): boolean => !this.#holding && !this.#ids.has(id) && (id > last || !this.more);
    const shown = new Set(this.items.map(({ id }) => id));
    const found = items.filter((item) => shown.has(item.id) || isMissing(item));
    this.total = total - items.filter(({ id }) => this.#leaving.has(id)).length;
    this.#show(withCounts(this.items, found));
  }

  #changed(
    ids: readonly number[],
    change: Change & { readonly removed?: boolean | undefined },
    unread: number | null,
  ): void {
    this.#changes += 1;
    // What was gathered counts before: the host's count knows it already.
    if (this.#arrived.length > 0) {
      clearTimeout(this.#gathering);
      this.#gather();
    }
    if (unread === null) this.#countSoon();
    else this.unread = unread;
    // No ids: every row there is.
    if (ids.length === 0) {
      void this.load();
      return;
    }
    const changed = new Set(ids);
    const before = this.items.length;
    const moves = change.removed === true || change.done !== undefined;
    if (moves && this.#grouped && touchesRuns(changed, this.items)) this.#recountSoon();
    const apply = (items: readonly InboxItem[]): InboxItem[] =>
      items.flatMap((item) => {
        if (!changed.has(item.id)) return [item];
        const next = { ...item, read: change.read ?? item.read, done: change.done ?? item.done };
        return !change.removed && hasPlace(next, this.filter) ? [next] : [];
      });
    this.waiting = apply(this.waiting);
    this.#show(apply(this.items));
    if (change.removed) for (const id of ids) this.#leaving.delete(id);
    this.total -= before - this.items.length;
  }
}

export const inbox = new Inbox();
