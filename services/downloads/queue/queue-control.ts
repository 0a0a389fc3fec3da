import * as m from '#messages/downloads-problems';
import { Problem } from '../../contracts/problem.ts';
import type { QueueChange } from '../../contracts/downloads/api.ts';
import type { Context } from '../../contracts/service.ts';
import { Addresses } from '../store/addresses.ts';
import { moveInQueue, type QueuePosition } from '../domain/queue-position.ts';
import { doneStates, queueStates, type Item } from '../domain/item.ts';
import type { LiveUpdates } from '../reporting/live-updates.ts';
import type { Queue } from './queue.ts';
import { isPaused, pauseItems, resumeItems, setPaused } from '../store/pause.ts';
import { readQueueOrder, storeOrder } from '../store/reorder.ts';
import { DownloadStore } from '../store/store.ts';

interface Dependencies {
  readonly context: Context;
  readonly live: LiveUpdates;
  readonly queue: Queue;
}

/** Pauses, resumes and moves queued downloads. All operations are idempotent. */
export class QueueControl {
  readonly #deps: Dependencies;
  readonly #addresses: Addresses;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#addresses = new Addresses(deps.context.vault);
  }

  async isPaused(): Promise<boolean> {
    return await isPaused(this.#deps.context.db);
  }

  /**
   * Pauses the given downloads, or the whole queue. Resolves when none of them runs: the slots are free and the partial
   * files are on disk. A file that is just being moved into the download folder finishes all the same.
   */
  async pause(ids: readonly string[] | undefined): Promise<QueueChange> {
    const { context, queue } = this.#deps;
    const outcome = await context.commit(async (db) => {
      const chosen = await selectItems(new DownloadStore(db), this.#addresses, ids, [
        'preparing',
        'downloading',
        'postprocessing',
      ]);
      if (ids === undefined) await setPaused(db, context.clock.now());
      const changed = await pauseItems(db, chosen.items);
      return { ...chosen, changed, paused: await isPaused(db) };
    });
    this.#publish(outcome, ids === undefined);
    await Promise.all(outcome.changed.map(async ({ uid }) => await queue.stopRun(uid)));
    return toQueueChange(outcome);
  }

  /** Resumes the given downloads, or without ids all paused ones and the queue itself. */
  async resume(ids: readonly string[] | undefined): Promise<QueueChange> {
    const { context, queue } = this.#deps;
    const outcome = await context.commit(async (db) => {
      const chosen = await selectItems(new DownloadStore(db), this.#addresses, ids, ['paused']);
      if (ids === undefined) await setPaused(db, null);
      const changed = await resumeItems(db, chosen.items);
      return { ...chosen, changed, paused: await isPaused(db) };
    });
    this.#publish(outcome, ids === undefined);
    queue.wake();
    return toQueueChange(outcome);
  }

  /**
   * Moves the given downloads to a position, in the given order. Running downloads continue.
   * @throws Problem `downloads.no_such_place` (409) when the adjacent row is not in the queue or is moved itself
   */
  async reorder(ids: readonly string[], position: QueuePosition): Promise<{ uids: string[]; unknown: string[] }> {
    const { context, live } = this.#deps;
    const addresses = this.#addresses;
    const { uids, unknown, before } = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      const { uids: matched, unknown } = matchIds(
        addresses,
        ids,
        await store.match(
          ids.map((id) => addresses.toDisplayUrl(id)),
          [...queueStates, 'pending'],
        ),
      );
      const order = await readQueueOrder(db);
      const next = moveInQueue(
        order.map(({ uid }) => uid),
        matched,
        await resolvePosition(store, addresses, position),
      );
      if (next === undefined) {
        throw new Problem('downloads.no_such_place', 409, m.positionNotFound());
      }
      await storeOrder(db, order, next);
      const last = matched.at(-1);
      const nextUid = last === undefined ? undefined : next[next.indexOf(last) + 1];
      return { uids: matched, unknown, before: nextUid ?? null };
    });
    if (uids.length > 0) live.moved(uids, before);
    return { uids, unknown };
  }

  #publish({ changed, paused }: { changed: readonly Item[]; paused: boolean }, isWholeQueue: boolean): void {
    const { live } = this.#deps;
    if (isWholeQueue) live.paused(paused);
    for (const item of changed) live.changed(item);
  }
}

interface SelectedItems {
  readonly items: readonly Item[];
  readonly unknown: readonly string[];
  readonly over: readonly string[];
}

/** Selects the downloads with the given ids, or without ids those in the given states. */
async function selectItems(
  store: DownloadStore,
  addresses: Addresses,
  ids: readonly string[] | undefined,
  states: Parameters<DownloadStore['queue']>[0],
): Promise<SelectedItems> {
  if (ids === undefined) return { items: await store.queue(states), unknown: [], over: [] };
  const queued = await store.match(
    ids.map((id) => addresses.toDisplayUrl(id)),
    [...queueStates, 'pending'],
  );
  const done = await store.match(
    ids.map((id) => addresses.toDisplayUrl(id)),
    doneStates,
  );
  const { unknown: rest } = matchIds(addresses, ids, queued);
  const { unknown } = matchIds(addresses, rest, done);
  // A pending download does not run and does not start automatically.
  const items = queued.filter(({ state }) => state !== 'pending');
  return { items, unknown, over: rest.filter((id) => !unknown.includes(id)) };
}

/** Resolves a position whose adjacent row is given by its address. */
async function resolvePosition(
  store: DownloadStore,
  addresses: Addresses,
  position: QueuePosition,
): Promise<QueuePosition> {
  if ('position' in position) return position;
  const id = 'before' in position ? position.before : position.after;
  const matches = await store.match([addresses.toDisplayUrl(id)], [...queueStates, 'pending']);
  const uid = ('before' in position ? matches[0] : matches.at(-1))?.uid ?? id;
  return 'before' in position ? { before: uid } : { after: uid };
}

/** Returns the distinct uids that the ids refer to, in the order of the ids, and the ids without a match. */
function matchIds(
  addresses: Addresses,
  ids: readonly string[],
  items: readonly Item[],
): { uids: string[]; unknown: string[] } {
  const matched = new Map<string, string[]>();
  for (const { uid, url } of items) {
    matched.set(uid, [uid]);
    matched.set(url, [...(matched.get(url) ?? []), uid]);
  }
  const matches = ids.map((id) => ({ id, uids: matched.get(id) ?? matched.get(addresses.toDisplayUrl(id)) ?? [] }));
  return {
    uids: [...new Set(matches.flatMap(({ uids }) => uids))],
    unknown: matches.filter(({ uids }) => uids.length === 0).map(({ id }) => id),
  };
}

function toQueueChange({
  changed,
  unknown,
  over,
  paused,
}: SelectedItems & { changed: readonly Item[]; paused: boolean }): QueueChange {
  return { uids: changed.map(({ uid }) => uid), unknown: [...unknown], over: [...over], paused };
}
