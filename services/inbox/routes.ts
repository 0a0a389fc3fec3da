import { implement, type ApiHandler } from '../contracts/api.ts';
import { inboxApi } from '../contracts/inbox/api.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';
import type { Rights } from '../contracts/route-access.ts';
import { mayTouch, readable } from './permissions.ts';
import type { Announce, Marking } from './item-marker.ts';
import type { ItemStore, Placed } from './store/items.ts';
import { earlierOf } from './store/repeats.ts';
import type { Scope } from './store/scope.ts';

/** Rows that one statement names at most: a run has more than a database takes, and others get in between. */
const batch = 1000;

export interface RouteParts {
  readonly store: ItemStore;
  readonly context: Pick<Context, 'commit' | 'reads'>;
  readonly marking: Marking;
  /** Resolves when all rows that came before are found by their words. */
  readonly catchUp: () => Promise<void>;
  readonly announce: Announce;
}

/** The inbox's part of our own API. */
export function inboxRoutes({ store, context, marking, catchUp, announce }: RouteParts): readonly ApiHandler[] {
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
      // Among the unread each counts, and a search is for one of them.
      const newest = query.repeats === 'newest' && !sought && unread !== true;
      const repeatsOf = query.repeatsOf === undefined ? undefined : await store.runOf(query.repeatsOf);
      if (query.repeatsOf !== undefined && repeatsOf === undefined) {
        return { items: [], unread: await store.unread(scope), total: 0, sources: [] };
      }
      const wanted = { q, source, tag, minPriority, unread, done, scope, newest, repeatsOf };
      const [items, unreadNow, total, sources] = await Promise.all([
        store.list(wanted, query.before, query.limit),
        store.unread(scope),
        store.count(wanted),
        store.sources(scope),
      ]);
      return { items, unread: unreadNow, total, sources };
    }),

    implement(inboxApi.find, async ({ query: { q, limit }, rights }) => {
      if (q.trim() === '') return { items: [] };
      const scope = await scopeOf(rights);
      await catchUp();
      return { items: await store.list({ q, scope }, undefined, limit) };
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

    implement(inboxApi.change, async ({ body: { ids, read, done, repeats, undoable }, rights }) => {
      const scope = await scopeOf(rights);
      const { changed, unread, change } =
        ids === 'all'
          ? await marking.changeAll({ read, done }, scope)
          : await marking.change(ids, { read, done }, { scope, repeats: repeats ?? false });
      return { changed, unread: await unreadIn(scope, unread), ...(undoable === true && { change }) };
    }),

    implement(inboxApi.undo, async ({ body: { change }, rights }) => {
      const scope = await scopeOf(rights);
      const { changed, unread } = await marking.takeBack(change, scope);
      return { changed, unread: await unreadIn(scope, unread) };
    }),

    implement(inboxApi.remove, async ({ body, rights }) => {
      const scope = await scopeOf(rights);
      const ids = body.repeats === true ? [...body.ids, ...(await earlierOf(context.reads, body.ids))] : body.ids;
      const parts = Array.from({ length: Math.ceil(ids.length / batch) }, (_, part) =>
        ids.slice(part * batch, (part + 1) * batch),
      );
      for (const part of rights.all ? [] : parts) {
        const kept = (await store.placesOf(part, scope)).find((place) => !mayTouch(rights, 'write', place));
        if (kept === undefined) continue;
        const what = kept.topic === '' ? kept.source : kept.topic;
        throw new Problem('inbox.forbidden', 403, `You may not remove what came from ${what}.`);
      }
      const removed: Placed[] = [];
      for (const part of parts) {
        removed.push(...(await context.commit((transaction) => store.remove(transaction, part, scope))));
      }
      return { removed: removed.length, unread: await unreadIn(scope, await announce(removed, { removed: true })) };
    }),
  ];
}
