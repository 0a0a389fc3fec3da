import { implement, type ApiHandler } from '../contracts/api.ts';
import { inboxApi } from '../contracts/inbox/api.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';
import { searchWords } from './domain.ts';
import type { Change, ItemStore } from './store/items.ts';

export interface RouteParts {
  readonly store: ItemStore;
  readonly commit: Context['commit'];
  /** Tells the pages; answers how many are unread now. */
  readonly announce: (ids: readonly number[], change: Change & { readonly removed?: boolean }) => Promise<number>;
}

/** The inbox's part of our own API. */
export function inboxRoutes({ store, commit, announce }: RouteParts): readonly ApiHandler[] {
  return [
    implement(inboxApi.list, async ({ query }) => {
      const words = searchWords(query.q ?? '');
      const { source, tag, minPriority, unread } = query;
      // What was put away is out of the list, but a search finds it.
      const done = query.done ?? (words.length > 0 ? undefined : false);
      const wanted = { words, source, tag, minPriority, unread, done };
      const [items, unreadNow, total, sources] = await Promise.all([
        store.list(wanted, query.before, query.limit),
        store.unread(),
        store.count(wanted),
        store.sources(),
      ]);
      return { items, unread: unreadNow, total, sources };
    }),

    implement(inboxApi.one, async ({ params }) => {
      const id = Number(params['id']);
      const item = Number.isSafeInteger(id) && id > 0 ? await store.one(id) : undefined;
      if (item === undefined) throw new Problem('inbox.unknown', 404, 'There is no such message.');
      return item;
    }),

    implement(inboxApi.change, async ({ body: { ids, read, done } }) => {
      const changed = await commit((transaction) => store.change(transaction, ids, { read, done }));
      return { changed: changed.length, unread: await announce(changed, { read, done }) };
    }),

    implement(inboxApi.remove, async ({ body: { ids } }) => {
      const removed = await commit((transaction) => store.remove(transaction, ids));
      return { removed: removed.length, unread: await announce(removed, { removed: true }) };
    }),
  ];
}
