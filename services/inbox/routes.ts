import * as m from '#messages/inbox-problems';
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
export function inboxRoutes(dependencies: RouteDependencies): readonly ApiHandler[] {
  return [...readRoutes(dependencies), ...changeRoutes(dependencies)];
}

function getScope(store: ItemStore, rights: Rights): Promise<Scope | undefined> {
  return getReadableScope(rights, () => store.places());
}

/** Returns the number of unread rows that the caller may read. */
async function countUnread(store: ItemStore, scope: Scope | undefined, total: number): Promise<number> {
  return scope === undefined ? total : store.countUnread(scope);
}

/** Returns the handlers that list and find items. */
function readRoutes({ store, catchUp }: Pick<RouteDependencies, 'store' | 'catchUp'>): readonly ApiHandler[] {
  return [
    implement(inboxApi.list, async ({ query, rights }) => {
      const scope = await getScope(store, rights);
      const { q = '', source, topic, tag, minPriority, unread } = query;
      const isSearch = q.trim() !== '';
      if (isSearch) await catchUp();
      // Rows marked as done are hidden from the list, but found by a search.
      const done = query.done ?? (isSearch ? undefined : false);
      // Repeats are not grouped in search results and among unread rows.
      const newest = query.repeats === 'newest' && !isSearch && unread !== true;
      const repeatedRun = query.repeatsOf === undefined ? undefined : await store.findRun(query.repeatsOf);
      if (query.repeatsOf !== undefined && repeatedRun === undefined) {
        return { items: [], unread: await store.countUnread(scope), total: 0, sources: [] };
      }
      const filter = { q, source, topic, tag, minPriority, unread, done, scope, newest, repeatsOf: repeatedRun };
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
      const scope = await getScope(store, rights);
      await catchUp();
      return { items: await store.list({ q, scope }, undefined, limit) };
    }),

    implement(inboxApi.unreadTopics, async ({ rights }) => ({
      topics: await store.countUnreadByTopic(await getScope(store, rights)),
    })),

    implement(inboxApi.one, async ({ params, rights }) => {
      const id = Number(params['id']);
      const item = Number.isSafeInteger(id) && id > 0 ? await store.find(id) : undefined;
      // Unreadable rows are reported as not found.
      if (item === undefined || !isAllowed(rights, 'read', item)) {
        throw new Problem('inbox.unknown', 404, m.messageNotFound());
      }
      return item;
    }),
  ];
}

/** Returns the handlers that mark and remove items. */
function changeRoutes({
  store,
  context,
  marker,
  announce,
}: Pick<RouteDependencies, 'store' | 'context' | 'marker' | 'announce'>): readonly ApiHandler[] {
  return [
    implement(inboxApi.change, async ({ body: { ids, topic, read, done, repeats, undoable }, rights }) => {
      const scope = await getScope(store, rights);
      const { changed, unread, change } =
        ids === 'all'
          ? await marker.changeAll({ read, done }, topic === undefined ? scope : limitToTopic(scope, topic))
          : await marker.change(ids, { read, done }, { scope, repeats: repeats ?? false });
      return { changed, unread: await countUnread(store, scope, unread), ...(undoable === true && { change }) };
    }),

    implement(inboxApi.undo, async ({ body: { change }, rights }) => {
      const scope = await getScope(store, rights);
      const { changed, unread } = await marker.undo(change, scope);
      return { changed, unread: await countUnread(store, scope, unread) };
    }),

    implement(inboxApi.remove, async ({ body, rights }) => {
      const scope = await getScope(store, rights);
      const ids =
        body.repeats === true ? [...body.ids, ...(await findEarlierRepeats(context.reads, body.ids))] : body.ids;
      const chunks = Array.from({ length: Math.ceil(ids.length / batchSize) }, (_, chunk) =>
        ids.slice(chunk * batchSize, (chunk + 1) * batchSize),
      );
      for (const chunkIds of rights.all ? [] : chunks) {
        const forbiddenPlace = (await store.findPlaces(chunkIds, scope)).find(
          (place) => !isAllowed(rights, 'write', place),
        );
        if (forbiddenPlace === undefined) continue;
        const name = forbiddenPlace.topic === '' ? forbiddenPlace.source : forbiddenPlace.topic;
        throw new Problem('inbox.forbidden', 403, m.removalDenied({ name }));
      }
      const removed: ItemPlace[] = [];
      for (const chunkIds of chunks) {
        removed.push(...(await context.commit((transaction) => store.remove(transaction, chunkIds, scope))));
      }
      return {
        removed: removed.length,
        unread: await countUnread(store, scope, await announce(removed, { removed: true })),
      };
    }),
  ];
}

/** Returns the part of a scope within one push topic. */
function limitToTopic(scope: Scope | undefined, topic: string): Scope {
  const isReadable = scope === undefined || scope.topics.includes(topic);
  return { topics: isReadable ? [topic] : [], sources: [] };
}
