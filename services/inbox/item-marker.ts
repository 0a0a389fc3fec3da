import type { Context } from '../contracts/service.ts';
import { findChangeable, changeItems, undoChange, type Change } from './store/changes.ts';
import type { ItemStore, ItemPlace } from './store/items.ts';
import { findEarlierRepeats } from './store/repeats.ts';
import type { Scope } from './store/scope.ts';

/** Maximum number of rows changed in one commit, so that other commits run in between. */
const batchSize = 1000;

/** Publishes a change of rows; `many` when there are too many to list. Returns the number of unread rows. */
export type Announce = (
  rows: readonly ItemPlace[] | 'many',
  change: Change & { readonly removed?: boolean },
) => Promise<number>;

interface MarkerDependencies {
  readonly context: Pick<Context, 'clock' | 'commit' | 'reads'>;
  readonly store: ItemStore;
  readonly announce: Announce;
  /** Publishes that the user has seen these rows. */
  readonly announceSeen: (rows: readonly ItemPlace[]) => Promise<void>;
}

/** Result of a change. */
interface MarkResult {
  readonly changed: number;
  /** Number of unread rows in total. */
  readonly unread: number;
  /** Number by which the change can be undone. */
  readonly change: number;
}

/** Returns true when the change means that the user has seen the rows. */
export function isSeen({ read, done, removed }: Change & { readonly removed?: boolean }): boolean {
  return read === true || done === true || removed === true;
}

/** Marks any number of rows as read or done, and undoes such changes. */
export class ItemMarker {
  readonly #dependencies: MarkerDependencies;
  #lastNumber = 0;

  constructor(dependencies: MarkerDependencies) {
    this.#dependencies = dependencies;
  }

  /** Changes rows; with `repeats`, also the earlier rows that they repeat. */
  async change(
    ids: readonly number[],
    change: Change,
    { scope, repeats = false }: { readonly scope?: Scope | undefined; readonly repeats?: boolean } = {},
  ): Promise<MarkResult> {
    const changeNumber = this.#nextNumber();
    const allIds = repeats ? [...ids, ...(await findEarlierRepeats(this.#dependencies.context.reads, ids))] : ids;
    const changed: ItemPlace[] = [];
    for (let offset = 0; offset < allIds.length; offset += batchSize) {
      changed.push(
        ...(await this.#commit(allIds.slice(offset, offset + batchSize), change, { scope, number: changeNumber })),
      );
    }
    return {
      changed: changed.length,
      unread: await this.#dependencies.announce(changed, change),
      change: changeNumber,
    };
  }

  /** Changes all rows that exist now. */
  async changeAll(change: Change, scope?: Scope): Promise<MarkResult> {
    const { context, store, announce, announceSeen } = this.#dependencies;
    const changeNumber = this.#nextNumber();
    const upTo = await store.newestId();
    let first: readonly ItemPlace[] = [];
    let changed = 0;
    for (;;) {
      const ids = await findChangeable(context.reads, change, { scope, upTo, limit: batchSize });
      const chunk = await this.#commit(ids, change, { scope, number: changeNumber });
      if (chunk.length === 0) break;
      if (changed === 0) first = chunk;
      else if (isSeen(change)) await announceSeen(chunk);
      changed += chunk.length;
      if (ids.length < batchSize) break;
    }
    if (changed === first.length) return { changed, unread: await announce(first, change), change: changeNumber };
    if (isSeen(change)) await announceSeen(first);
    return { changed, unread: await announce('many', change), change: changeNumber };
  }

  /** Undoes a change, except for rows that were changed since. */
  async undo(changeNumber: number, scope?: Scope): Promise<Omit<MarkResult, 'change'>> {
    const { context, announce, store } = this.#dependencies;
    let changed = 0;
    for (;;) {
      const rows = await context.commit((transaction) =>
        undoChange(transaction, changeNumber, { scope, limit: batchSize }),
      );
      changed += rows.length;
      const isLast = rows.length < batchSize;
      if (isLast && changed === rows.length) {
        for (const group of Map.groupBy(rows, ({ read, done }) => `${String(read)} ${String(done)}`).values()) {
          const [{ read, done } = { read: false, done: false }] = group;
          await announce(group, { read, done });
        }
      }
      if (isLast) break;
    }
    if (changed >= batchSize) await announce('many', {});
    return { changed, unread: await store.countUnread() };
  }

  #commit(
    ids: readonly number[],
    change: Change,
    options: { readonly scope: Scope | undefined; readonly number: number },
  ): Promise<ItemPlace[]> {
    if (ids.length === 0) return Promise.resolve([]);
    return this.#dependencies.context.commit((transaction) => changeItems(transaction, ids, change, options));
  }

  /** Returns a unique number, also after the clock was set back. */
  #nextNumber(): number {
    this.#lastNumber = Math.max(this.#lastNumber + 1, this.#dependencies.context.clock.now() * 1000);
    return this.#lastNumber;
  }
}
