import { inboxAdded, inboxChanged, inboxSeen, type InboxChanged, type InboxItem } from '../contracts/inbox/api.ts';
import type { Context } from '../contracts/service.ts';
import { isSeen, type Announce } from './item-marker.ts';
import type { ItemPlace, ItemStore } from './store/items.ts';

/** Maximum number of ids in one event. */
const maxIdsPerEvent = 1000;

/** Publishes changes of the items on the bus. */
export class Announcer {
  readonly #bus: Context['bus'];
  readonly #store: ItemStore;
  readonly #added: ReturnType<Context['metrics']['counter']>;

  constructor({ bus, metrics }: Pick<Context, 'bus' | 'metrics'>, store: ItemStore) {
    this.#bus = bus;
    this.#store = store;
    this.#added = metrics.counter({
      name: 'inbox_items_total',
      help: 'Received notifications.',
      initial: [{}],
    });
  }

  /** Announces and counts added items. */
  readonly announceAdded = (items: readonly InboxItem[]): void => {
    this.#added.inc({}, items.length);
    for (const item of items) this.#bus.publish(inboxAdded, item);
  };

  /** Announces items that a client has seen. */
  readonly announceSeen = async (rows: readonly ItemPlace[]): Promise<void> => {
    const ids = rows.map(({ id }) => id);
    this.#bus.publish(inboxSeen, { keys: await this.#store.findKeys(ids), ids });
  };

  /** Announces changed items in events of limited size, and returns the number of unread ones. */
  readonly announce: Announce = async (rows, change) => {
    const unread = await this.#store.countUnread();
    const { read, done, removed } = change;
    const visibleChange = {
      ...(read !== undefined && { read }),
      ...(done !== undefined && { done }),
      ...(removed !== undefined && { removed }),
    };
    if (rows === 'many') {
      this.#bus.publish(inboxChanged, { ids: [], change: visibleChange, unread });
      return unread;
    }
    for (let offset = 0; offset < rows.length; offset += maxIdsPerEvent) {
      const chunk = rows.slice(offset, offset + maxIdsPerEvent);
      const ids = chunk.map(({ id }) => id);
      this.#bus.publish(inboxChanged, { ids, change: visibleChange, unread, places: groupByPlace(chunk) });
      if (isSeen(change)) await this.announceSeen(chunk);
    }
    return unread;
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
