import type { ApiHandler } from '../contracts/api.ts';
import { inboxAdded, inboxChanged, inboxOffered, inboxRead } from '../contracts/inbox/api.ts';
import type { Health } from '../contracts/health.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { Announcer } from './announcer.ts';
import { normalizeOffer, formatUnread } from './item-text.ts';
import { manifest } from './manifest.ts';
import { FeedFollower } from './feed-follower.ts';
import { Intake } from './intake.ts';
import { purge } from './retention.ts';
import { inboxRoutes } from './routes.ts';
import type { Settings } from './settings.ts';
import { FeedPositions } from './store/feed-positions.ts';
import { ItemMarker } from './item-marker.ts';
import { ItemStore } from './store/items.ts';
import { UnreadCount } from './unread-count.ts';
import { WordIndex } from './word-index.ts';
import { RepeatingTask } from '../kit/repeating-task.ts';

/** Inbox: stores every message of Homeport, with search, marking and deletion. */
export const inbox = defineService({
  ...manifest,
  create: (context, settings) => new InboxService(context, settings),
});

const hourMs = 3_600_000;

class InboxService implements Service {
  readonly api: readonly ApiHandler[];
  readonly reconfigure: (settings: unknown) => Promise<void>;
  readonly #context: Context;
  readonly #settings: Readonly<Settings>;
  readonly #resources = new DisposableStack();
  readonly #store: ItemStore;
  readonly #unread: UnreadCount;
  readonly #index: WordIndex;
  readonly #intake: Intake;
  readonly #feedFollower: FeedFollower;
  readonly #announcer: Announcer;
  readonly #marker: ItemMarker;
  #indexing: AsyncDisposable | undefined;
  #purging: RepeatingTask | undefined;

  constructor(context: Context, initialSettings: Settings) {
    const live = createLiveSettings(initialSettings, () => this.#purging?.trigger());
    const store = new ItemStore(context.reads);
    this.#context = context;
    this.#settings = live.current;
    this.#store = store;
    this.#unread = new UnreadCount(new ItemStore(context.db), store, context.singleHost);
    this.#announcer = new Announcer(context, store);
    context.metrics.gauge({
      name: 'inbox_items_unread',
      help: 'Notifications that are neither read nor put away.',
      collect: () => this.#unread.count(),
    });
    this.#index = new WordIndex(context, store.itemWords);
    const { announce, announceAdded, announceSeen } = this.#announcer;
    this.#intake = new Intake(context, store, announceAdded);
    this.#feedFollower = new FeedFollower({
      context,
      items: store,
      positions: new FeedPositions(context.db),
      onAdded: announceAdded,
    });
    this.#marker = new ItemMarker({ context, store, announce, announceSeen });
    const catchUp = (): Promise<void> => this.#index.catchUp();
    this.api = inboxRoutes({ context, store, marker: this.#marker, catchUp, announce });
    this.reconfigure = live.update;
  }

  async start(): Promise<void> {
    const { bus, clock, handovers, log } = this.#context;
    this.#resources.use(
      handovers.receive(inboxOffered, (offer, key) => this.#intake.add({ key, offer: normalizeOffer(offer) })),
    );
    this.#resources.use(bus.subscribe(inboxAdded, () => this.#unread.invalidate()));
    this.#resources.use(bus.subscribe(inboxChanged, () => this.#unread.invalidate()));
    this.#resources.use(
      handovers.receive(inboxRead, async ({ ids }) => {
        await this.#marker.change(ids, { read: true });
      }),
    );
    const onError = (error: unknown): void => log.error('inbox purge failed', { error });
    this.#purging = new RepeatingTask(() => this.#purge(), { clock, intervalMs: hourMs, onError });
    this.#purging.trigger();
    this.#indexing = this.#index.start();
    await this.#feedFollower.start();
  }

  async health(): Promise<Health> {
    return { state: 'up', detail: formatUnread(await this.#unread.count()) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#resources.dispose();
    await Promise.all([
      this.#purging?.[Symbol.asyncDispose](),
      this.#intake.drained(),
      this.#feedFollower[Symbol.asyncDispose](),
      this.#indexing?.[Symbol.asyncDispose](),
    ]);
  }

  /** Deletes items that are older than the retention time. */
  #purge(): Promise<void> {
    const { announce } = this.#announcer;
    return purge(this.#context, this.#store, this.#settings.keepDays, (rows) => announce(rows, { removed: true }));
  }
}
