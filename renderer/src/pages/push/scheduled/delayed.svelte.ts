import * as m from '#messages/push-compose';
import {
  pushDelayedChanged,
  pushDelayedApi,
  type DelayedMessage,
} from '../../../../../services/contracts/push/delayed.ts';
import {
  pushSchedulesApi,
  type PushSchedule,
  type ScheduleForm,
} from '../../../../../services/contracts/push/schedules.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { toasts } from '../../../state/toasts.svelte.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';
import { Removals } from '../../../state/removals.svelte.ts';

/** Maximum number of rows in one page, as on the host. */
const maxRows = 500;

/** Returns the page after a position, or the first page. */
type ReadPage<Item, PageCursor> = (
  cursor: PageCursor | undefined,
  limit: number,
) => Promise<{ readonly items: readonly Item[]; readonly next: PageCursor | null; readonly total: number }>;

/** A list that is loaded in pages and reloaded, up to the loaded length, after a change. */
class PagedList<Item extends { readonly id: string }, PageCursor extends string | number> extends Loadable {
  #all = $state.raw<readonly Item[]>([]);
  readonly #removals = new Removals();
  readonly items = $derived(this.#all.filter(({ id }) => !this.#removals.has(id)));
  total = $state(0);
  #next: PageCursor | null = null;
  #loading: Promise<void> | undefined;
  readonly #read: ReadPage<Item, PageCursor>;

  constructor(read: ReadPage<Item, PageCursor>) {
    super();
    this.#read = read;
  }

  async load(): Promise<void> {
    await this.readOnce(
      () => this.#readAll(Math.max(100, this.items.length)),
      ({ items, next, total }) => {
        this.#next = next;
        this.total = total;
        this.#all = items;
      },
    );
  }

  async #readAll(count: number): ReturnType<ReadPage<Item, PageCursor>> {
    let page = await this.#read(undefined, Math.min(maxRows, count));
    const items = [...page.items];
    while (page.next !== null && items.length < count) {
      page = await this.#read(page.next, maxRows);
      items.push(...page.items);
    }
    return { ...page, items };
  }

  loadMore(): void {
    if (this.#next === null || this.#loading) return;
    this.#loading = this.#readNext(this.#next)
      .catch((error: unknown) => toasts.showError(error))
      .finally(() => (this.#loading = undefined));
  }

  /** Hides an item immediately; `remove` runs when Undo is no longer possible. */
  hideAndRemove(id: string, message: string, remove: () => Promise<unknown>): void {
    this.#removals.hideAndRemove([id], { message: message, remove, reload: () => this.load() });
  }

  async #readNext(cursor: PageCursor): Promise<void> {
    const page = await this.#read(cursor, maxRows);
    // The list was reloaded in the meantime.
    if (this.#next !== cursor) return;
    this.#next = page.next;
    const existingIds = new Set(this.#all.map(({ id }) => id));
    this.#all = [...this.#all, ...page.items.filter(({ id }) => !existingIds.has(id))];
  }
}

/** Delayed messages and recurring messages. */
class DelayedAndRecurring {
  readonly waiting = new PagedList<DelayedMessage, string>(async (after, limit) => {
    const { messages, next, total } = await call(pushDelayedApi.list, { query: { after, limit } });
    return { items: messages, next, total };
  });
  readonly schedules = new PagedList<PushSchedule, number>(async (before, limit) => {
    const { schedules, next, total } = await call(pushSchedulesApi.list, { query: { before, limit } });
    return { items: schedules, next, total };
  });
  #observers = 0;

  constructor() {
    live.on(pushDelayedChanged, () => this.#refresh());
    live.onReset(() => this.#refresh());
    live.onLanguageChange([pushSchedulesApi.list], () => {
      if (this.#observers > 0) void this.schedules.load();
    });
  }

  /** Keeps the lists up to date until the returned function is called. */
  observe(): () => void {
    this.#observers += 1;
    void this.load();
    return () => (this.#observers -= 1);
  }

  async load(): Promise<void> {
    await Promise.all([this.waiting.load(), this.schedules.load()]);
  }

  async publishNow({ id, topic }: DelayedMessage): Promise<void> {
    await call(pushDelayedApi.publish, { params: { id } });
    toasts.show(m.publishedToTopic({ topic }));
    await this.waiting.load();
  }

  /**
   * Changes the time of a message; `at` is a unix time or a text such as `tomorrow`.
   * @throws Problem with `fields`.
   */
  async move(id: string, at: string): Promise<void> {
    await call(pushDelayedApi.change, { params: { id }, body: { at } });
    await this.waiting.load();
  }

  cancel({ id, topic }: DelayedMessage): void {
    this.waiting.hideAndRemove(id, m.theMessageToTopicIs({ topic }), () =>
      call(pushDelayedApi.cancel, { params: { id }, keepalive: true }),
    );
  }

  /**
   * Creates a schedule, or replaces the one with this id.
   * @throws Problem with `fields`.
   */
  async save(form: ScheduleForm, id: string | undefined): Promise<void> {
    if (id === undefined) await call(pushSchedulesApi.create, { body: form });
    else await call(pushSchedulesApi.change, { params: { id }, body: form });
    await this.schedules.load();
  }

  async enable({ id }: PushSchedule, enabled: boolean): Promise<void> {
    await call(pushSchedulesApi.enable, { params: { id }, body: { enabled } });
    await this.schedules.load();
  }

  async run({ id, topic }: PushSchedule): Promise<void> {
    await call(pushSchedulesApi.run, { params: { id } });
    toasts.show(m.publishedToTopic({ topic }));
  }

  remove({ id, topic }: PushSchedule): void {
    this.schedules.hideAndRemove(id, m.theScheduleForTopicIs({ topic }), () =>
      call(pushSchedulesApi.remove, { params: { id }, keepalive: true }),
    );
  }

  #refresh(): void {
    if (this.#observers > 0) void this.load();
  }
}

export const planned = new DelayedAndRecurring();
