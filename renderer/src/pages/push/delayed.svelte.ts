import {
  pushDelayedChanged,
  pushDelayedApi,
  type DelayedMessage,
} from '../../../../services/contracts/push/delayed.ts';
import {
  pushSchedulesApi,
  type PushSchedule,
  type ScheduleForm,
} from '../../../../services/contracts/push/schedules.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { Loaded } from '../../state/loaded.svelte.ts';
import { Removals } from '../../state/removals.svelte.ts';

/** Rows the host gives at once. */
const mostRows = 500;

/** Reads what comes after a place, or the beginning. */
type ReadPage<Item, Place> = (
  place: Place | undefined,
  limit: number,
) => Promise<{ readonly items: readonly Item[]; readonly next: Place | null; readonly total: number }>;

/** A list that is read in pages and read anew, as far as it was paged to, when something has changed. */
class Paged<Item extends { readonly id: string }, Place extends string | number> extends Loaded {
  #all = $state.raw<readonly Item[]>([]);
  readonly #removals = new Removals();
  readonly items = $derived(this.#all.filter(({ id }) => !this.#removals.has(id)));
  total = $state(0);
  #next: Place | null = null;
  #reading: Promise<void> | undefined;
  readonly #read: ReadPage<Item, Place>;

  constructor(read: ReadPage<Item, Place>) {
    super();
    this.#read = read;
  }

  async load(): Promise<void> {
    await this.reading(
      () => this.#readAll(Math.max(100, this.items.length)),
      ({ items, next, total }) => {
        this.#next = next;
        this.total = total;
        this.#all = items;
      },
    );
  }

  async #readAll(wanted: number): ReturnType<ReadPage<Item, Place>> {
    let page = await this.#read(undefined, Math.min(mostRows, wanted));
    const items = [...page.items];
    while (page.next !== null && items.length < wanted) {
      page = await this.#read(page.next, mostRows);
      items.push(...page.items);
    }
    return { ...page, items };
  }

  loadMore(): void {
    if (this.#next === null || this.#reading) return;
    this.#reading = this.#more(this.#next)
      .catch((error: unknown) => toasts.sayWhy(error))
      .finally(() => (this.#reading = undefined));
  }

  /** Takes one out of sight at once; `remove` is done when the way back is gone. */
  take(id: string, words: string, remove: () => Promise<unknown>): void {
    this.#removals.take([id], { words, remove, renew: () => this.load() });
  }

  async #more(place: Place): Promise<void> {
    const page = await this.#read(place, mostRows);
    // The list was read anew meanwhile.
    if (this.#next !== place) return;
    this.#next = page.next;
    const known = new Set(this.#all.map(({ id }) => id));
    this.#all = [...this.#all, ...page.items.filter(({ id }) => !known.has(id))];
  }
}

/** Messages that wait for their time, and those that go out again and again. */
class Planned {
  readonly waiting = new Paged<DelayedMessage, string>(async (after, limit) => {
    const { messages, next, total } = await call(pushDelayedApi.list, { query: { after, limit } });
    return { items: messages, next, total };
  });
  readonly schedules = new Paged<PushSchedule, number>(async (before, limit) => {
    const { schedules, next, total } = await call(pushSchedulesApi.list, { query: { before, limit } });
    return { items: schedules, next, total };
  });
  #watched = 0;

  constructor() {
    live.on(pushDelayedChanged, () => this.#refresh());
    live.onReset(() => this.#refresh());
  }

  /** Follows what happens until the returned function is called. */
  watch(): () => void {
    this.#watched += 1;
    void this.load();
    return () => (this.#watched -= 1);
  }

  async load(): Promise<void> {
    await Promise.all([this.waiting.load(), this.schedules.load()]);
  }

  async publishNow({ id, topic }: DelayedMessage): Promise<void> {
    await call(pushDelayedApi.publish, { params: { id } });
    toasts.say(`Published to ${topic}.`);
    await this.waiting.load();
  }

  /** `at`: unix time or words. @throws Problem with `fields`. */
  async move(id: string, at: string): Promise<void> {
    await call(pushDelayedApi.change, { params: { id }, body: { at } });
    await this.waiting.load();
  }

  cancel({ id, topic }: DelayedMessage): void {
    this.waiting.take(id, `The message to ${topic} is taken back.`, () =>
      call(pushDelayedApi.cancel, { params: { id }, keepalive: true }),
    );
  }

  /** Makes a schedule, or replaces the one with this id. @throws Problem with `fields`. */
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
    toasts.say(`Published to ${topic}.`);
  }

  remove({ id, topic }: PushSchedule): void {
    this.schedules.take(id, `The schedule for ${topic} is removed.`, () =>
      call(pushSchedulesApi.remove, { params: { id }, keepalive: true }),
    );
  }

  #refresh(): void {
    if (this.#watched > 0) void this.load();
  }
}

export const planned = new Planned();
