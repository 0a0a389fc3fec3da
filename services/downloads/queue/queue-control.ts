import { Problem } from '../../contracts/problem.ts';
import type { QueueChange } from '../../contracts/downloads/api.ts';
import type { Context } from '../../contracts/service.ts';
import { Addresses } from '../store/addresses.ts';
import { arrange, type Place } from '../domain/queue-position.ts';
import { doneStates, queueStates, type Item } from '../domain/item.ts';
import type { Live } from './live-updates.ts';
import type { Queue } from './queue.ts';
import { isPaused, pauseItems, resumeItems, setPaused } from '../store/pause.ts';
import { queueOrder, storeOrder } from '../store/reorder.ts';
import { DownloadStore } from '../store/store.ts';

interface Parts {
  readonly context: Context;
  readonly live: Live;
  readonly queue: Queue;
}

/** Pausing, resuming and moving what is queued. Doing any of it twice is the same as doing it once. */
export class QueueControl {
  readonly #parts: Parts;
  readonly #addresses: Addresses;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#addresses = new Addresses(parts.context.vault);
  }

  async isPaused(): Promise<boolean> {
    return await isPaused(this.#parts.context.db);
  }

  /**
   * Pauses what is named, or the whole queue. Resolves when nothing of it runs any more: the slots are free, the parts
   * on disk. What was just being moved into the download folder finishes all the same.
   */
  async pause(ids: readonly string[] | undefined): Promise<QueueChange> {
    const { context, queue } = this.#parts;
    const outcome = await context.commit(async (db) => {
      const chosen = await choose(new DownloadStore(db), this.#addresses, ids, [
        'preparing',
        'downloading',
        'postprocessing',
      ]);
      if (ids === undefined) await setPaused(db, context.clock.now());
      const changed = await pauseItems(db, chosen.items);
      return { ...chosen, changed, paused: await isPaused(db) };
    });
    this.#tell(outcome, ids === undefined);
    await Promise.all(outcome.changed.map(async ({ uid }) => await queue.rest(uid)));
    return steered(outcome);
  }

  /** Lets what is named go on; without names everything that is paused, and the queue itself. */
  async resume(ids: readonly string[] | undefined): Promise<QueueChange> {
    const { context, queue } = this.#parts;
    const outcome = await context.commit(async (db) => {
      const chosen = await choose(new DownloadStore(db), this.#addresses, ids, ['paused']);
      if (ids === undefined) await setPaused(db, null);
      const changed = await resumeItems(db, chosen.items);
      return { ...chosen, changed, paused: await isPaused(db) };
    });
    this.#tell(outcome, ids === undefined);
    queue.wake();
    return steered(outcome);
  }

  /**
   * Moves what is named to its place, in the order it is named. What runs goes on running wherever it stands.
   * @throws Problem `downloads.no_such_place` (409), when the row to stand beside is not in the queue or is moved itself.
   */
  async reorder(ids: readonly string[], place: Place): Promise<{ uids: string[]; unknown: string[] }> {
    const { context, live } = this.#parts;
    const addresses = this.#addresses;
    const { uids, unknown, before } = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      const { uids: named, unknown } = byId(
        addresses,
        ids,
        await store.match(
          ids.map((id) => addresses.shown(id)),
          [...queueStates, 'pending'],
        ),
      );
      const order = await queueOrder(db);
      const next = arrange(
        order.map(({ uid }) => uid),
        named,
        await resolved(store, addresses, place),
      );
      if (next === undefined) {
        throw new Problem('downloads.no_such_place', 409, 'What they should stand beside is not in the queue.');
      }
      await storeOrder(db, order, next);
      const last = named.at(-1);
      const following = last === undefined ? undefined : next[next.indexOf(last) + 1];
      return { uids: named, unknown, before: following ?? null };
    });
    if (uids.length > 0) live.moved(uids, before);
    return { uids, unknown };
  }

  #tell({ changed, paused }: { changed: readonly Item[]; paused: boolean }, whole: boolean): void {
    const { live } = this.#parts;
    if (whole) live.paused(paused);
    for (const item of changed) live.changed(item);
  }
}

interface Chosen {
  readonly items: readonly Item[];
  readonly unknown: readonly string[];
  readonly over: readonly string[];
}

/** What is meant: the named ones wherever they stand in the queue, or without names those of the given states. */
async function choose(
  store: DownloadStore,
  addresses: Addresses,
  ids: readonly string[] | undefined,
  states: Parameters<DownloadStore['queue']>[0],
): Promise<Chosen> {
  if (ids === undefined) return { items: await store.queue(states), unknown: [], over: [] };
  const queued = await store.match(
    ids.map((id) => addresses.shown(id)),
    [...queueStates, 'pending'],
  );
  const done = await store.match(
    ids.map((id) => addresses.shown(id)),
    doneStates,
  );
  const { unknown: rest } = byId(addresses, ids, queued);
  const { unknown } = byId(addresses, rest, done);
  // One that waits for its start does not run, and does not start by itself.
  const items = queued.filter(({ state }) => state !== 'pending');
  return { items, unknown, over: rest.filter((id) => !unknown.includes(id)) };
}

/** A place beside a row may name that by its address, too. */
async function resolved(store: DownloadStore, addresses: Addresses, place: Place): Promise<Place> {
  if ('position' in place) return place;
  const id = 'before' in place ? place.before : place.after;
  const found = await store.match([addresses.shown(id)], [...queueStates, 'pending']);
  const uid = ('before' in place ? found[0] : found.at(-1))?.uid ?? id;
  return 'before' in place ? { before: uid } : { after: uid };
}

/** The uids of what ids name, each once and in the order they are named, and the ids that name nothing. */
function byId(
  addresses: Addresses,
  ids: readonly string[],
  items: readonly Item[],
): { uids: string[]; unknown: string[] } {
  const named = new Map<string, string[]>();
  for (const { uid, url } of items) {
    named.set(uid, [uid]);
    named.set(url, [...(named.get(url) ?? []), uid]);
  }
  const found = ids.map((id) => ({ id, uids: named.get(id) ?? named.get(addresses.shown(id)) ?? [] }));
  return {
    uids: [...new Set(found.flatMap(({ uids }) => uids))],
    unknown: found.filter(({ uids }) => uids.length === 0).map(({ id }) => id),
  };
}

function steered({
  changed,
  unknown,
  over,
  paused,
}: Chosen & { changed: readonly Item[]; paused: boolean }): QueueChange {
  return { uids: changed.map(({ uid }) => uid), unknown: [...unknown], over: [...over], paused };
}
