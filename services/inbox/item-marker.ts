import type { Context } from '../contracts/service.ts';
import { changeable, changeItems, takeBack, type Change } from './store/changes.ts';
import type { ItemStore, Placed } from './store/items.ts';
import { earlierOf } from './store/repeats.ts';
import type { Scope } from './store/scope.ts';

/** Rows that one commit changes at most: others get in between. */
const batch = 1000;

/** Tells everybody what became of rows; `many`: of more than each could be told of. Answers how many are unread now. */
export type Announce = (
  rows: readonly Placed[] | 'many',
  change: Change & { readonly removed?: boolean },
) => Promise<number>;

interface Parts {
  readonly context: Pick<Context, 'clock' | 'commit' | 'reads'>;
  readonly store: ItemStore;
  readonly announce: Announce;
  /** Tells who shows them elsewhere that somebody has seen these rows. */
  readonly seen: (rows: readonly Placed[]) => Promise<void>;
}

/** What came of a change. */
interface Marked {
  readonly changed: number;
  /** Of all rows. */
  readonly unread: number;
  /** To take it back by. */
  readonly change: number;
}

/** Whether what became of rows is that somebody has seen them. */
export function isSeen({ read, done, removed }: Change & { readonly removed?: boolean }): boolean {
  return read === true || done === true || removed === true;
}

/** Marks rows read or done, one or a million, and takes that back. */
export class Marking {
  readonly #parts: Parts;
  #last = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** `repeats`: also the earlier rows that these are repeats of. */
  async change(
    ids: readonly number[],
    change: Change,
    { scope, repeats = false }: { readonly scope?: Scope | undefined; readonly repeats?: boolean } = {},
  ): Promise<Marked> {
    const number = this.#next();
    const all = repeats ? [...ids, ...(await earlierOf(this.#parts.context.reads, ids))] : ids;
    const changed: Placed[] = [];
    for (let at = 0; at < all.length; at += batch) {
      changed.push(...(await this.#commit(all.slice(at, at + batch), change, { scope, number })));
    }
    return { changed: changed.length, unread: await this.#parts.announce(changed, change), change: number };
  }

  /** Every row that is there now. */
  async changeAll(change: Change, scope?: Scope): Promise<Marked> {
    const { context, store, announce, seen } = this.#parts;
    const number = this.#next();
    const upTo = await store.newestId();
    let first: readonly Placed[] = [];
    let changed = 0;
    for (;;) {
      const ids = await changeable(context.reads, change, { scope, upTo, limit: batch });
      const some = await this.#commit(ids, change, { scope, number });
      if (some.length === 0) break;
      if (changed === 0) first = some;
      else if (isSeen(change)) await seen(some);
      changed += some.length;
      if (ids.length < batch) break;
    }
    if (changed === first.length) return { changed, unread: await announce(first, change), change: number };
    if (isSeen(change)) await seen(first);
    return { changed, unread: await announce('many', change), change: number };
  }

  /** Takes a change back, as far as nobody changed the rows since. */
  async takeBack(number: number, scope?: Scope): Promise<Omit<Marked, 'change'>> {
    const { context, announce, store } = this.#parts;
    let changed = 0;
    for (;;) {
      const rows = await context.commit((transaction) => takeBack(transaction, number, { scope, limit: batch }));
      changed += rows.length;
      const isWhole = rows.length < batch;
      if (isWhole && changed === rows.length) {
        for (const same of Map.groupBy(rows, ({ read, done }) => `${String(read)} ${String(done)}`).values()) {
          const [{ read, done } = { read: false, done: false }] = same;
          await announce(same, { read, done });
        }
      }
      if (isWhole) break;
    }
    if (changed >= batch) await announce('many', {});
    return { changed, unread: await store.unread() };
  }

  #commit(
    ids: readonly number[],
    change: Change,
    options: { readonly scope: Scope | undefined; readonly number: number },
  ): Promise<Placed[]> {
    if (ids.length === 0) return Promise.resolve([]);
    return this.#parts.context.commit((transaction) => changeItems(transaction, ids, change, options));
  }

  /** Each its own, also after the clock was set back. */
  #next(): number {
    this.#last = Math.max(this.#last + 1, this.#parts.context.clock.now() * 1000);
    return this.#last;
  }
}
