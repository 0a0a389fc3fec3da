import { implement, type ApiHandler } from '../contracts/api.ts';
import { inboxApi } from '../contracts/inbox/api.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';
import type { Rights } from '../contracts/route-access.ts';
import { isAllowed, getReadableScope } from './permissions.ts';
import type { Announce, ItemMarker } from './item-marker.ts';
import type { ItemStore, ItemPlace } from './store/items.ts';
import { findEarlierRepeats } from './store/repeats.ts';
import type { Scope } from './store/scope.ts';

/** Maximum number of rows in one statement; larger requests are split, so that other commits run in between. */
const batchSize = 1000;

export interface RouteDependencies {
  readonly store: ItemStore;
  readonly context: Pick<Context, 'commit' | 'reads'>;
  readonly marker: ItemMarker;
  /** Resolves when all existing rows are indexed. */
  readonly catchUp: () => Promise<void>;
  readonly announce: Announce;
}

/** Handlers of the inbox's app API. */
export function inboxRoutes({ store, context, marker, catchUp, announce }: RouteDependencies): readonly ApiHandler[] {
  const getScope = (rights: Rights): Promise<Scope | undefined> => getReadableScope(rights, () => store.places());
  /** Returns the unread rows that the caller may read. */
  const countUnread = async (scope: Scope | undefined, total: number): Promise<number> =>
    scope === undefined ? total : store.countUnread(scope);
  return [
    implement(inboxApi.list, async ({ query, rights }) => {
      const scope = await getScope(rights);
      const { q = '', source, tag, minPriority, unread } = query;
      const isSearch = q.trim() !== '';
      if (isSearch) await catchUp();
      // Rows marked as done are hidden from the list, but found by a search.
      const done = query.done ?? (isSearch ? undefined : false);
      // Unread rows and search results are listed individually.
      const newest = query.repeats === 'newest' && !isSearch && unread !== true;
      const run = query.repeatsOf === undefined ? undefined : await store.findRun(query.repeatsOf);
      if (query.repeatsOf !== undefined && run === undefined) {
        return { items: [], unread: await store.countUnread(scope), total: 0, sources: [] };
      }
      const filter = { q, source, tag, minPriority, unread, done, scope, newest, repeatsOf: run };
      const [items, unreadNow, total, sources] = await Promise.all([
        store.list(filter, query.before, query.limit),
        store.countUnread(scope),
        store.count(filter),
        store.sources(scope),
      ]);
      return { items, unread: unreadNow, total, sources };
    }),

    implement(inboxApi.find, async ({ query: { q, limit }, rights }) => {
      if (q.trim() === '') return { items: [] };
      const scope = await getScope(rights);
      await catchUp();
      return { items: await store.list({ q, scope }, undefined, limit) };
    }),

    implement(inboxApi.one, async ({ params, rights }) => {
      const id = Number(params['id']);
      const item = Number.isSafeInteger(id) && id > 0 ? await store.find(id) : undefined;
      // Unreadable rows are reported as not found.
      if (item === undefined || !isAllowed(rights, 'read', item)) {
        throw new Problem('inbox.unknown', 404, 'There is no such message.');
      }
      return item;
    }),

    implement(inboxApi.change, async ({ body: { ids, read, done, repeats, undoable }, rights }) => {
      const scope = await getScope(rights);
      const { changed, unread, change } =
        ids === 'all'
          ? await marker.changeAll({ read, done }, scope)
          : await marker.change(ids, { read, done }, { scope, repeats: repeats ?? false });
      return { changed, unread: await countUnread(scope, unread), ...(undoable === true && { change }) };
    }),

    implement(inboxApi.undo, async ({ body: { change }, rights }) => {
      const scope = await getScope(rights);
      const { changed, unread } = await marker.undo(change, scope);
      return { changed, unread: await countUnread(scope, unread) };
    }),

    implement(inboxApi.remove, async ({ body, rights }) => {
      const scope = await getScope(rights);
      const ids =
        body.repeats === true ? [...body.ids, ...(await findEarlierRepeats(context.reads, body.ids))] : body.ids;
      const chunks = Array.from({ length: Math.ceil(ids.length / batchSize) }, (_, chunk) =>
        ids.slice(chunk * batchSize, (chunk + 1) * batchSize),
      );
      for (const part of rights.all ? [] : chunks) {
        const forbiddenPlace = (await store.findPlaces(part, scope)).find(
          (place) => !isAllowed(rights, 'write', place),
        );
        if (forbiddenPlace === undefined) continue;
        const name = forbiddenPlace.topic === '' ? forbiddenPlace.source : forbiddenPlace.topic;
        throw new Problem('inbox.forbidden', 403, `You may not remove what came from ${name}.`);
      }
      const removed: ItemPlace[] = [];
      for (const part of chunks) {
        removed.push(...(await context.commit((transaction) => store.remove(transaction, part, scope))));
      }
      return { removed: removed.length, unread: await countUnread(scope, await announce(removed, { removed: true })) };
    }),
  ];
}
