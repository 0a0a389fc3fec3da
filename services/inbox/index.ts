import * as m from '#messages/inbox-texts';
import { inboxAdded, inboxChanged, inboxOffered, inboxRead } from '../contracts/inbox/api.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { Announcer } from './announcer.ts';
import { normalizeOffer } from './item-text.ts';
import { manifest } from './manifest.ts';
import { FeedFollower } from './feed-follower.ts';
import { Intake } from './intake.ts';
import { Retention } from './retention.ts';
import { inboxRoutes } from './routes.ts';
import type { Settings } from './settings.ts';
import { FeedPositions } from './store/feed-positions.ts';
import { ItemMarker } from './item-marker.ts';
import { ItemStore } from './store/items.ts';
import { UnreadCount } from './unread-count.ts';
import { WordIndex } from './word-index.ts';

/** Inbox: stores every message of Homeport, with search, marking and deletion. */
export const inbox = defineService({ ...manifest, create });

function create(context: Context, initialSettings: Settings): Service {
  const { bus, handovers } = context;
  const resources = new DisposableStack();
  const live = createLiveSettings(initialSettings);
  const settings = live.current;
  const store = new ItemStore(context.reads);
  const unread = new UnreadCount(new ItemStore(context.db), store, context.singleHost);
  const { announce, announceAdded, announceSeen } = new Announcer(context, store);
  const retention = new Retention(context, settings, store, (rows) => announce(rows, { removed: true }));
  context.metrics.gauge({
    name: 'inbox_items_unread',
    help: 'Notifications that are neither read nor archived.',
    collect: () => unread.count(),
  });
  const index = new WordIndex(context, store.itemWords);
  const intake = new Intake(context, store, announceAdded);
  const feedFollower = new FeedFollower({
    context,
    items: store,
    positions: new FeedPositions(context.db),
    onAdded: announceAdded,
  });
  const marker = new ItemMarker({ context, store, announce, announceSeen });
  let indexing: AsyncDisposable | undefined;
  let purging: AsyncDisposable | undefined;

  return {
    api: inboxRoutes({ context, store, marker, catchUp: () => index.catchUp(), announce }),
    async start() {
      resources.use(
        handovers.receive(inboxOffered, async (offer, key) =>
          intake.add({ key, offer: await context.inHostLanguage(() => normalizeOffer(offer)) }),
        ),
      );
      resources.use(bus.subscribe(inboxAdded, () => unread.invalidate()));
      resources.use(bus.subscribe(inboxChanged, () => unread.invalidate()));
      resources.use(
        handovers.receive(inboxRead, async ({ ids }) => {
          await marker.change(ids, { read: true });
        }),
      );
      purging = await context.leases.hold('retention', () => retention.start());
      indexing = index.start();
      await feedFollower.start();
    },
    async health() {
      const count = await unread.count();
      return { state: 'up', detail: () => m.unreadCount({ count }) };
    },
    reconfigure: (next) => live.update(next, () => retention.run()),
    async [Symbol.asyncDispose]() {
      resources.dispose();
      await Promise.all([
        purging?.[Symbol.asyncDispose](),
        intake.drained(),
        feedFollower[Symbol.asyncDispose](),
        indexing?.[Symbol.asyncDispose](),
      ]);
    },
  };
}
