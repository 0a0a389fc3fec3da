import {
  subscriptionChanged,
  subscriptionRemoved,
  subscriptionsApi,
  type Subscription,
  type SubscriptionPreview,
} from '../../../../../services/contracts/downloads/subscriptions.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { runExclusive } from '../../../state/run-exclusive.ts';
import { toasts } from '../../../state/toasts.svelte.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';

/** What a person may say about a subscription when it is made. */
export interface SubscriptionOptions {
  readonly url: string;
  readonly download_type: 'video' | 'audio';
  readonly intervalMinutes: number;
  readonly titleRegex: string;
  readonly skipMembersOnly: boolean;
  readonly folder: string;
  readonly quality: string;
  readonly format: string;
}

/** Channels, playlists and feeds that are looked at for new videos, in the order they were made. */
class Subscriptions extends Loadable {
  items = $state.raw<readonly Subscription[]>([]);
  #watched = false;
  readonly #soon = runExclusive(() => this.#read());
  /** What changed while the list was on its way; it may be newer than that. */
  #late: (() => void)[] | undefined;

  constructor() {
    super();
    live.on(subscriptionChanged, (changed) => this.#apply(() => this.#put(changed)));
    live.on(subscriptionRemoved, ({ id }) => this.#apply(() => this.#drop(id)));
    live.onReset(() => {
      if (this.#watched) void this.load();
    });
  }

  watch(): () => void {
    this.#watched = true;
    void this.load();
    return () => {
      this.#watched = false;
    };
  }

  load(): Promise<void> {
    return this.#soon();
  }

  find(id: string): Subscription | undefined {
    return this.items.find((each) => each.id === id);
  }

  /** @throws Problem with the reason, in words for a person. */
  async add(options: SubscriptionOptions): Promise<Subscription> {
    const added = await call(subscriptionsApi.add, { body: options });
    this.#put(added);
    return added;
  }

  /** @throws Problem */
  async update(
    id: string,
    change: Partial<
      Pick<Subscription, 'url' | 'name' | 'enabled' | 'intervalMinutes' | 'titleRegex' | 'skipMembersOnly' | 'folder'>
    >,
  ): Promise<void> {
    this.#put(await call(subscriptionsApi.update, { body: { id, ...change } }));
  }

  /** Pauses it or lets it go on; shown at once. */
  async enable(subscription: Subscription, enabled: boolean): Promise<void> {
    const { id } = subscription;
    this.#put({ ...subscription, enabled });
    try {
      await this.update(id, { enabled });
    } catch (error) {
      // What else became of it meanwhile stays.
      const now = this.find(id);
      if (now !== undefined) this.#put({ ...now, enabled: subscription.enabled });
      toasts.showError(error);
    }
  }

  /** Looks now, at one or at all. */
  async check(ids?: readonly string[]): Promise<void> {
    try {
      const { queued } = await call(subscriptionsApi.check, { body: ids === undefined ? {} : { ids: [...ids] } });
      const [only] = ids?.length === 1 ? ids : [];
      const failed = only === undefined ? undefined : this.find(only)?.error;
      if (failed !== undefined && failed !== null) return;
      if (queued === 0) toasts.show('Nothing new.');
      else
        toasts.show(queued === 1 ? '1 new video is in the queue.' : `${String(queued)} new videos are in the queue.`);
    } catch (error) {
      toasts.showError(error);
    }
  }

  /** Gone at once; for a while it can be taken back, with all that was seen. */
  async remove({ id, name }: Subscription): Promise<void> {
    this.#drop(id);
    try {
      await call(subscriptionsApi.remove, { body: { ids: [id] } });
      toasts.show(`${name} is removed. Its files stay.`, {
        undo: async () => {
          const { restored } = await call(subscriptionsApi.restore, { body: { ids: [id] } });
          await this.load();
          if (restored.length === 0) toasts.show('It is too late for that: subscribe to it anew.', { tone: 'bad' });
        },
      });
    } catch (error) {
      toasts.showError(error);
      await this.load();
    }
  }

  /** @throws Problem */
  preview(url: string, titleRegex: string, signal: AbortSignal): Promise<SubscriptionPreview> {
    return call(subscriptionsApi.preview, { body: { url, titleRegex }, signal });
  }

  async #read(): Promise<void> {
    await live.opened();
    this.#late = [];
    const isRead = await this.readOnce(
      () => call(subscriptionsApi.list),
      ({ subscriptions }) => (this.items = subscriptions),
    );
    if (!isRead && this.phase === 'ready') toasts.show(this.error, { tone: 'bad' });
    const late = this.#late;
    this.#late = undefined;
    for (const apply of late) apply();
  }

  #apply(change: () => void): void {
    if (this.#late === undefined) change();
    else this.#late.push(change);
  }

  #put(changed: Subscription): void {
    const there = this.items.some(({ id }) => id === changed.id);
    this.items = there ? this.items.map((each) => (each.id === changed.id ? changed : each)) : [...this.items, changed];
  }

  #drop(id: string): void {
    this.items = this.items.filter((each) => each.id !== id);
  }
}

export const subscriptions = new Subscriptions();
