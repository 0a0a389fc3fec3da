import { implement, type ApiHandler } from '../contracts/api.ts';
import { inboxApi } from '../contracts/inbox/api.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';
import type { Rights } from '../contracts/route-access.ts';
import { mayTouch, readable } from './rights.ts';
import type { Change, ItemStore, Placed } from './store/items.ts';
import type { Scope } from './store/scope.ts';

export interface RouteParts {
  readonly store: ItemStore;
  readonly commit: Context['commit'];
  /** Resolves when all rows that came before are found by their words. */
  readonly catchUp: () => Promise<void>;
  /** Tells the pages; answers how many are unread now. */
  readonly announce: (rows: readonly Placed[], change: Change & { readonly removed?: boolean }) => Promise<number>;
}

/** The inbox's part of our own API. */
export function inboxRoutes({ store, commit, catchUp, announce }: RouteParts): readonly ApiHandler[] {
  const scopeOf = (rights: Rights): Promise<Scope | undefined> => readable(rights, () => store.places());
  /** Of those rows that the caller may read. */
  const unreadIn = async (scope: Scope | undefined, ofAll: number): Promise<number> =>
    scope === undefined ? ofAll : store.unread(scope);
  return [
    implement(inboxApi.list, async ({ query, rights }) => {
      const scope = await scopeOf(rights);
      const { q = '', source, tag, minPriority, unread } = query;
      const sought = q.trim() !== '';
      if (sought) await catchUp();
      // What was put away is out of the list, but a search finds it.
      const done = query.done ?? (sought ? undefined : false);
      const wanted = { q, source, tag, minPriority, unread, done, scope };
      const [items, unreadNow, total, sources] = await Promise.all([
        store.list(wanted, query.before, query.limit),
        store.unread(scope),
        store.count(wanted),
        store.sources(scope),
      ]);
      return { items, unread: unreadNow, total, sources };
    }),

    implement(inboxApi.one, async ({ params, rights }) => {
      const id = Number(params['id']);
      const item = Number.isSafeInteger(id) && id > 0 ? await store.one(id) : undefined;
      // One that may not be read is as good as not there.
      if (item === undefined || !mayTouch(rights, 'read', item)) {
        throw new Problem('inbox.unknown', 404, 'There is no such message.');
      }
      return item;
    }),

    implement(inboxApi.change, async ({ body: { ids, read, done }, rights }) => {
      const scope = await scopeOf(rights);
      const changed = await commit((transaction) => store.change(transaction, ids, { read, done }, scope));
      return { changed: changed.length, unread: await unreadIn(scope, await announce(changed, { read, done })) };
    }),

    implement(inboxApi.remove, async ({ body: { ids }, rights }) => {
      const scope = await scopeOf(rights);
      const kept = rights.all
        ? undefined
        : (await store.placesOf(ids, scope)).find((place) => !mayTouch(rights, 'write', place));
      if (kept !== undefined) {
        const what = kept.topic === '' ? kept.source : kept.topic;
        throw new Problem('inbox.forbidden', 403, `You may not remove what came from ${what}.`);
      }
      const removed = await commit((transaction) => store.remove(transaction, ids, scope));
      return { removed: removed.length, unread: await unreadIn(scope, await announce(removed, { removed: true })) };
    }),
  ];
}
