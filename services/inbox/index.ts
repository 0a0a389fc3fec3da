import {
  inboxAdded,
  inboxChanged,
  inboxOffered,
  inboxRead,
  inboxSeen,
  type InboxChanged,
  type InboxItem,
  type InboxOffer,
} from '../contracts/inbox/api.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { normalizeOffer, formatUnread } from './item-text.ts';
import { manifest } from './manifest.ts';
import { FeedFollower } from './feed-follower.ts';
import { Intake } from './intake.ts';
import { purge } from './retention.ts';
import { inboxRoutes } from './routes.ts';
import type { Settings } from './settings.ts';
import { FeedPositions } from './store/feed-positions.ts';
import { isSeen, ItemMarker, type Announce } from './item-marker.ts';
import { ItemStore, type ItemPlace } from './store/items.ts';
import { UnreadCount } from './unread-count.ts';
import { WordIndex } from './word-index.ts';

/** Inbox: stores every message of Homeport, with search, marking and deletion. */
export const inbox = defineService({
  ...manifest,
  create,
});

const hourMs = 3_600_000;
/** Maximum number of ids in one event. */
const maxIdsPerEvent = 1000;

function create(context: Context, initialSettings: Settings): Service {
  const live = createLiveSettings(initialSettings, () => purgeOld());
  const { bus, clock, log } = context;
  const resources = new DisposableStack();
  const store = new ItemStore(context.reads);
  const unread = new UnreadCount(new ItemStore(context.db), store, context.singleHost);
  const addedCounter = context.metrics.counter({
    name: 'inbox_items_total',
    help: 'Notifications that came in.',
    initial: [{}],
  });
  context.metrics.gauge({
    name: 'inbox_items_unread',
    help: 'Notifications that are neither read nor put away.',
    collect: () => unread.count(),
  });

  const index = new WordIndex(context, store.itemWords);
  let indexing: AsyncDisposable | undefined;
  const announceAdded = (items: readonly InboxItem[]): void => {
    addedCounter.inc({}, items.length);
    for (const item of items) bus.publish(inboxAdded, item);
  };
  const intake = new Intake(context, store, announceAdded);
  const feedFollower = new FeedFollower({
    context,
    items: store,
    positions: new FeedPositions(context.db),
    onAdded: announceAdded,
  });
  const receive = (offer: InboxOffer, key: string): Promise<void> => intake.add({ key, offer: normalizeOffer(offer) });

  const announceSeen = async (rows: readonly ItemPlace[]): Promise<void> => {
    const ids = rows.map(({ id }) => id);
    bus.publish(inboxSeen, { keys: await store.findKeys(ids), ids });
  };
  const announce: Announce = async (rows, change) => {
    const unreadNow = await store.countUnread();
    const { read, done, removed } = change;
    const visibleChange = {
      ...(read !== undefined && { read }),
      ...(done !== undefined && { done }),
      ...(removed !== undefined && { removed }),
    };
    if (rows === 'many') {
      bus.publish(inboxChanged, { ids: [], change: visibleChange, unread: unreadNow });
      return unreadNow;
    }
    for (let offset = 0; offset < rows.length; offset += maxIdsPerEvent) {
      const chunk = rows.slice(offset, offset + maxIdsPerEvent);
      const some = chunk.map(({ id }) => id);
      bus.publish(inboxChanged, { ids: some, change: visibleChange, unread: unreadNow, places: groupByPlace(chunk) });
      if (isSeen(change)) await announceSeen(chunk);
    }
    return unreadNow;
  };

  const marker = new ItemMarker({ context, store, announce, announceSeen });

  let purging: Promise<void> | undefined;
  const purgeOld = (): void => {
    purging ??= purge(context, store, live.current.keepDays, (rows) => announce(rows, { removed: true }))
      .catch((error: unknown) => log.error('inbox purge failed', { error }))
      .finally(() => (purging = undefined));
  };

  return {
    api: inboxRoutes({ context, store, marker, catchUp: () => index.catchUp(), announce }),

    async start() {
      resources.use(context.handovers.receive(inboxOffered, receive));
      resources.use(bus.subscribe(inboxAdded, () => unread.invalidate()));
      resources.use(bus.subscribe(inboxChanged, () => unread.invalidate()));
      resources.use(
        context.handovers.receive(inboxRead, async ({ ids }) => {
          await marker.change(ids, { read: true });
        }),
      );
      resources.use(clock.every(hourMs, purgeOld));
      purgeOld();
      indexing = index.start();
      await feedFollower.start();
    },

    async health() {
      return { state: 'up', detail: formatUnread(await unread.count()) };
    },

    reconfigure: live.update,

    async [Symbol.asyncDispose]() {
      resources.dispose();
      await Promise.all([
        purging,
        intake.drained(),
        feedFollower[Symbol.asyncDispose](),
        indexing?.[Symbol.asyncDispose](),
      ]);
    },
  };
}

function groupByPlace(rows: readonly ItemPlace[]): NonNullable<InboxChanged['places']> {
  const byPlace = Map.groupBy(rows, ({ topic, source }) => `${topic}\n${source}`);
  return [...byPlace.values()].map((group) => ({
    topic: group[0]?.topic ?? '',
    source: group[0]?.source ?? '',
    ids: group.map(({ id }) => id),
  }));
}
