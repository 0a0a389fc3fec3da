import {
  inboxAdded,
  inboxChanged,
  inboxOffered,
  inboxSeen,
  type InboxChanged,
  type InboxOffer,
} from '../contracts/inbox/api.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import { liveSettings } from '../kit/live-settings.ts';
import { bound, unreadWords } from './domain.ts';
import { manifest } from './manifest.ts';
import { Intake } from './intake.ts';
import { purge } from './retention.ts';
import { inboxRoutes } from './routes.ts';
import type { Settings } from './settings.ts';
import { ItemStore, type Change, type Placed } from './store/items.ts';
import { UnreadCount } from './unread.ts';

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
  const { bus, clock, commit, log } = context;
  const open = new DisposableStack();
  const store = new ItemStore(context.reads);
  const unread = new UnreadCount(store, context.singleHost);
  const intake = new Intake(context, store);
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

  const receive = async (offer: InboxOffer, key: string): Promise<void> => {
    const item = await intake.take({ key, offer: bound(offer) });
    if (item === undefined) return;
    added.inc();
    bus.publish(inboxAdded, item);
  };

  const announce = async (
    rows: readonly Placed[],
    change: Change & { readonly removed?: boolean },
  ): Promise<number> => {
    const unreadNow = await store.unread();
    const { read, done, removed } = change;
    const told = {
      ...(read !== undefined && { read }),
      ...(done !== undefined && { done }),
      ...(removed !== undefined && { removed }),
    };
    for (let at = 0; at < rows.length; at += idsPerEvent) {
      const part = rows.slice(at, at + idsPerEvent);
      const some = part.map(({ id }) => id);
      bus.publish(inboxChanged, { ids: some, change: told, unread: unreadNow, places: placesOf(part) });
      if (read === true || done === true || removed === true) {
        bus.publish(inboxSeen, { keys: await store.keysOf(some) });
      }
    }
    return unreadNow;
  };

  let purging: Promise<void> | undefined;
  const clean = (): void => {
    purging ??= purge(context, store, live.current.keepDays, (rows) => announce(rows, { removed: true }))
      .catch((error: unknown) => log.error('old notifications could not be removed', { error }))
      .finally(() => (purging = undefined));
  };

  return {
    api: inboxRoutes({ store, commit, announce }),

    start() {
      open.use(context.handovers.receive(inboxOffered, receive));
      open.use(bus.subscribe(inboxAdded, () => unread.changed()));
      open.use(bus.subscribe(inboxChanged, () => unread.changed()));
      open.use(clock.every(hour, clean));
      clean();
      return Promise.resolve();
    },

    async health() {
      return { state: 'up', detail: unreadWords(await unread.count()) };
    },

    reconfigure: live.take,

    async [Symbol.asyncDispose]() {
      open.dispose();
      await Promise.all([purging, intake.settled()]);
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
