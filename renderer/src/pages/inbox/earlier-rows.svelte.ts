import { SvelteMap } from 'svelte/reactivity';
import { inboxApi, inboxChanged, type InboxChanged, type InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { inbox } from './inbox.svelte.ts';
import { hasPlace, wantsDone } from './list-rules.ts';

/** As many as one question answers; the rest is found by a search. */
const most = 200;

/** The earlier rows behind those that repeat them, where somebody has opened them. */
export class EarlierRows {
  readonly #open = new SvelteMap<number, readonly InboxItem[]>();

  /** Keeps them as the host has them; the returned function ends that. */
  follow(): () => void {
    const ends = [live.on(inboxChanged, (event) => this.#changed(event)), live.onReset(() => this.clear())];
    return () => {
      for (const end of ends) end();
    };
  }

  of(id: number): readonly InboxItem[] {
    return (this.#open.get(id) ?? []).filter((row) => !inbox.isLeaving(row.id));
  }

  isOpen(id: number): boolean {
    return this.#open.has(id);
  }

  /** Whether it is shown behind another. */
  isEarlier(id: number): boolean {
    return [...this.#open.values()].some((rows) => rows.some((row) => row.id === id));
  }

  async toggle(id: number): Promise<void> {
    if (this.#open.delete(id)) return;
    const rows = await read(id);
    if (rows !== undefined) this.#open.set(id, rows);
  }

  clear(): void {
    this.#open.clear();
  }

  #changed({ ids, change }: InboxChanged): void {
    // No ids: every row there is.
    if (ids.length === 0) {
      this.clear();
      return;
    }
    const elsewhere = ids.some((id) => !this.isEarlier(id));
    for (const [newest, rows] of [...this.#open]) {
      const kept = rows.flatMap((row) => {
        if (!ids.includes(row.id)) return [row];
        const next = { ...row, read: change.read ?? row.read, done: change.done ?? row.done };
        return change.removed !== true && hasPlace(next, inbox.filter) ? [next] : [];
      });
      const away = change.removed === true || (change.done !== undefined && change.done !== wantsDone(inbox.filter));
      // What was behind a row that went is behind another one now.
      if (kept.length === 0 || (away && ids.includes(newest))) this.#open.delete(newest);
      else this.#open.set(newest, kept);
    }
    // Some that were put away may be back among them.
    if (elsewhere && change.done !== undefined && change.done === wantsDone(inbox.filter)) {
      for (const newest of [...this.#open.keys()]) void this.#readAgain(newest);
    }
  }

  async #readAgain(newest: number): Promise<void> {
    const rows = await read(newest);
    if (rows !== undefined && this.#open.has(newest)) this.#open.set(newest, rows);
  }
}

/** Undefined when that failed, which the person is told. */
async function read(newest: number): Promise<readonly InboxItem[] | undefined> {
  try {
    return (await call(inboxApi.list, { query: { repeatsOf: newest, limit: most } })).items;
  } catch (error) {
    toasts.showError(error);
    return undefined;
  }
}
