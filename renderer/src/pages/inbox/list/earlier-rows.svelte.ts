import { SvelteMap } from 'svelte/reactivity';
import {
  inboxApi,
  inboxChanged,
  type InboxChanged,
  type InboxItem,
} from '../../../../../services/contracts/inbox/api.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { toasts } from '../../../state/toasts.svelte.ts';
import { inbox } from '../../../state/inbox/inbox.svelte.ts';
import { mayStay, getDoneFilter } from '../../../state/inbox/list-rules.ts';

/** Maximum number of rows in one call; older ones can be found by a search. */
const maxRows = 200;

/** Expanded groups of repeats: the earlier rows by the id of their latest repeat. */
export class EarlierRows {
  readonly #expanded = new SvelteMap<number, readonly InboxItem[]>();

  /** Keeps the rows up to date until the returned function is called. */
  observe(): () => void {
    const unsubscribes = [
      live.on(inboxChanged, (event) => this.#handleChange(event)),
      live.onReset(() => this.clear()),
    ];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  }

  getRows(id: number): readonly InboxItem[] {
    return (this.#expanded.get(id) ?? []).filter((row) => !inbox.isLeaving(row.id));
  }

  isOpen(id: number): boolean {
    return this.#expanded.has(id);
  }

  /** True for a row that is listed below its latest repeat. */
  isEarlier(id: number): boolean {
    return [...this.#expanded.values()].some((rows) => rows.some((row) => row.id === id));
  }

  async toggle(id: number): Promise<void> {
    if (this.#expanded.delete(id)) return;
    const rows = await loadEarlier(id);
    if (rows !== undefined) this.#expanded.set(id, rows);
  }

  clear(): void {
    this.#expanded.clear();
  }

  #handleChange({ ids, change }: InboxChanged): void {
    // An event without ids concerns all rows.
    if (ids.length === 0) {
      this.clear();
      return;
    }
    const hasOtherRows = ids.some((id) => !this.isEarlier(id));
    for (const [newest, rows] of [...this.#expanded]) {
      const remaining = rows.flatMap((row) => {
        if (!ids.includes(row.id)) return [row];
        const next = { ...row, read: change.read ?? row.read, done: change.done ?? row.done };
        return change.removed !== true && mayStay(next, inbox.filter) ? [next] : [];
      });
      const isRemoved =
        change.removed === true || (change.done !== undefined && change.done !== getDoneFilter(inbox.filter));
      // After the latest row of a group was removed, its earlier rows belong to another one.
      if (remaining.length === 0 || (isRemoved && ids.includes(newest))) this.#expanded.delete(newest);
      else this.#expanded.set(newest, remaining);
    }
    // Rows that were marked as done may be back in a group.
    if (hasOtherRows && change.done !== undefined && change.done === getDoneFilter(inbox.filter)) {
      for (const newest of [...this.#expanded.keys()]) void this.#reload(newest);
    }
  }

  async #reload(newest: number): Promise<void> {
    const rows = await loadEarlier(newest);
    if (rows !== undefined && this.#expanded.has(newest)) this.#expanded.set(newest, rows);
  }
}

/** Loads the earlier rows; undefined after a failure, which is shown to the user. */
async function loadEarlier(newest: number): Promise<readonly InboxItem[] | undefined> {
  try {
    return (await call(inboxApi.list, { query: { repeatsOf: newest, limit: maxRows } })).items;
  } catch (error) {
    toasts.showError(error);
    return undefined;
  }
}
