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
import { liveSettings } from '../kit/live-settings.ts';
import { bound, unreadWords } from './item-text.ts';
import { manifest } from './manifest.ts';
import { Follow } from './feed-follower.ts';
import { Intake } from './intake.ts';
import { purge } from './retention.ts';
import { inboxRoutes } from './routes.ts';
import type { Settings } from './settings.ts';
import { FeedPlaces } from './store/feed-positions.ts';
import { isSeen, Marking, type Announce } from './item-marker.ts';
import { ItemStore, type Placed } from './store/items.ts';
import { UnreadCount } from './unread-count.ts';
import { WordIndex } from './word-index.ts';

/** Everything the app told its person, in one list: found by its words, marked, put away, removed. */
export const inbox = defineService({
  ...manifest,
  create,
});

const hour = 3_600_000;
/** Ids that one event tells of at most. */
const idsPerEvent = 1000;

function create(context: Context, given: Settings): Service {
  const live = liveSettings(given, () => clean());
  const { bus, clock, log } = context;
  const open = new DisposableStack();
  const store = new ItemStore(context.reads);
  const unread = new UnreadCount(new ItemStore(context.db), store, context.singleHost);
  const added = context.metrics.counter({
    name: 'inbox_items_total',
    help: 'Notifications that came in.',
    initial: [{}],
  });
  context.metrics.gauge({
    name: 'inbox_items_unread',
    help: 'Notifications that are neither read nor put away.',
    collect: () => unread.count(),
  });

  const index = new WordIndex(context, store.words);
  let indexing: AsyncDisposable | undefined;
  const tell = (items: readonly InboxItem[]): void => {
    added.inc({}, items.length);
    for (const item of items) bus.publish(inboxAdded, item);
  };
  const intake = new Intake(context, store, tell);
  const follow = new Follow({ context, items: store, places: new FeedPlaces(context.db), added: tell });
  const receive = (offer: InboxOffer, key: string): Promise<void> => intake.take({ key, offer: bound(offer) });

  const seen = async (rows: readonly Placed[]): Promise<void> => {
    const ids = rows.map(({ id }) => id);
    bus.publish(inboxSeen, { keys: await store.keysOf(ids), ids });
  };
  const announce: Announce = async (rows, change) => {
    const unreadNow = await store.unread();
    const { read, done, removed } = change;
    const told = {
      ...(read !== undefined && { read }),
      ...(done !== undefined && { done }),
      ...(removed !== undefined && { removed }),
    };
    if (rows === 'many') {
      bus.publish(inboxChanged, { ids: [], change: told, unread: unreadNow });
      return unreadNow;
    }
    for (let at = 0; at < rows.length; at += idsPerEvent) {
      const part = rows.slice(at, at + idsPerEvent);
      const some = part.map(({ id }) => id);
      bus.publish(inboxChanged, { ids: some, change: told, unread: unreadNow, places: placesOf(part) });
      if (isSeen(change)) await seen(part);
    }
    return unreadNow;
  };

  const marking = new Marking({ context, store, announce, seen });

  let purging: Promise<void> | undefined;
  const clean = (): void => {
    purging ??= purge(context, store, live.current.keepDays, (rows) => announce(rows, { removed: true }))
      .catch((error: unknown) => log.error('old notifications could not be removed', { error }))
      .finally(() => (purging = undefined));
  };

  return {
    api: inboxRoutes({ context, store, marking, catchUp: () => index.catchUp(), announce }),

    async start() {
      open.use(context.handovers.receive(inboxOffered, receive));
      open.use(bus.subscribe(inboxAdded, () => unread.changed()));
      open.use(bus.subscribe(inboxChanged, () => unread.changed()));
      open.use(
        context.handovers.receive(inboxRead, async ({ ids }) => {
          await marking.change(ids, { read: true });
        }),
      );
      open.use(clock.every(hour, clean));
      clean();
      indexing = index.start();
      await follow.start();
    },

    async health() {
      return { state: 'up', detail: unreadWords(await unread.count()) };
    },

    reconfigure: live.take,

    async [Symbol.asyncDispose]() {
      open.dispose();
      await Promise.all([purging, intake.settled(), follow[Symbol.asyncDispose](), indexing?.[Symbol.asyncDispose]()]);
    },
  };
}

function placesOf(rows: readonly Placed[]): NonNullable<InboxChanged['places']> {
  const byPlace = Map.groupBy(rows, ({ topic, source }) => `${topic}\n${source}`);
  return [...byPlace.values()].map((together) => ({
    topic: together[0]?.topic ?? '',
    source: together[0]?.source ?? '',
    ids: together.map(({ id }) => id),
  }));
}
