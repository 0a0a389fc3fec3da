import * as m from '#messages/downloads';
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

/** Options of a new subscription. */
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

/** Channels, playlists and feeds that are checked for new videos, in the order of creation. */
class Subscriptions extends Loadable {
  items = $state.raw<readonly Subscription[]>([]);
  #isActive = false;
  readonly #loadExclusive = runExclusive(() => this.#read());
  /** Changes that arrived while the list was loading; they may be newer than its reply. */
  #deferred: (() => void)[] | undefined;

  constructor() {
    super();
    live.on(subscriptionChanged, (changed) => this.#applyOrDefer(() => this.#put(changed)));
    live.on(subscriptionRemoved, ({ id }) => this.#applyOrDefer(() => this.#drop(id)));
    live.onReset(() => {
      if (this.#isActive) void this.load();
    });
  }

  watch(): () => void {
    this.#isActive = true;
    void this.load();
    return () => {
      this.#isActive = false;
    };
  }

  load(): Promise<void> {
    return this.#loadExclusive();
  }

  find(id: string): Subscription | undefined {
    return this.items.find((each) => each.id === id);
  }

  /** @throws Problem with a message for the user. */
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

  /** Pauses or resumes a subscription; displayed immediately. */
  async enable(subscription: Subscription, enabled: boolean): Promise<void> {
    const { id } = subscription;
    this.#put({ ...subscription, enabled });
    try {
      await this.update(id, { enabled });
    } catch (error) {
      // Keeps other changes that arrived in the meantime.
      const current = this.find(id);
      if (current !== undefined) this.#put({ ...current, enabled: subscription.enabled });
      toasts.showError(error);
    }
  }

  /** Checks some or all subscriptions now. */
  async check(ids?: readonly string[]): Promise<void> {
    try {
      const { queued } = await call(subscriptionsApi.check, { body: ids === undefined ? {} : { ids: [...ids] } });
      const [singleId] = ids?.length === 1 ? ids : [];
      const failed = singleId === undefined ? undefined : this.find(singleId)?.error;
      if (failed !== undefined && failed !== null) return;
      toasts.show(m.newVideosQueued({ count: queued }));
    } catch (error) {
      toasts.showError(error);
    }
  }

  /** Removes a subscription; for a while it can be restored with its known videos. */
  async remove({ id, name }: Subscription): Promise<void> {
    this.#drop(id);
    try {
      await call(subscriptionsApi.remove, { body: { ids: [id] } });
      toasts.show(m.subscriptionRemoved({ name }), {
        undo: async () => {
          const { restored } = await call(subscriptionsApi.restore, { body: { ids: [id] } });
          await this.load();
          if (restored.length === 0) toasts.show(m.restoreTooLate(), { tone: 'bad' });
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
    this.#deferred = [];
    const isRead = await this.readOnce(
      () => call(subscriptionsApi.list),
      ({ subscriptions }) => (this.items = subscriptions),
    );
    if (!isRead && this.phase === 'ready') toasts.show(this.error, { tone: 'bad' });
    const deferred = this.#deferred;
    this.#deferred = undefined;
    for (const apply of deferred) apply();
  }

  #applyOrDefer(change: () => void): void {
    if (this.#deferred === undefined) change();
    else this.#deferred.push(change);
  }

  #put(changed: Subscription): void {
    const exists = this.items.some(({ id }) => id === changed.id);
    this.items = exists
      ? this.items.map((each) => (each.id === changed.id ? changed : each))
      : [...this.items, changed];
  }

  #drop(id: string): void {
    this.items = this.items.filter((each) => each.id !== id);
  }
}

export const subscriptions = new Subscriptions();
