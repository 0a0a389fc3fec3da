import { inboxApi, inboxChanged, type InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { call, formatError } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';

/** What an address leads to that is not among the rows of the list: a row, or why there is none. */
export interface Reached {
  readonly id: number;
  readonly item: InboxItem | undefined;
  /** It does not exist, or not any more. */
  readonly gone: boolean;
  readonly trouble: string;
}

/** The one row that is read by its address alone, because it was filtered out, put away or is far down. */
class ReachedRow {
  now = $state.raw<Reached | undefined>();
  #turn = 0;

  constructor() {
    live.on(inboxChanged, ({ ids, change }) => {
      const item = this.now?.item;
      // No ids: every row there is.
      if (item === undefined || (ids.length > 0 && !ids.includes(item.id))) return;
      if (change.removed) this.now = missing(item.id);
      else {
        const next = { ...item, read: change.read ?? item.read, done: change.done ?? item.done };
        this.now = { id: item.id, item: next, gone: false, trouble: '' };
      }
    });
    live.onReset(() => {
      const id = this.now?.id;
      if (id !== undefined) void this.read(id);
    });
  }

  /** Reads a row; a later call overtakes an earlier one. */
  async read(id: number): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    const found = await fetched(id);
    if (turn === this.#turn) this.now = found;
  }
}

async function fetched(id: number): Promise<Reached> {
  if (!Number.isSafeInteger(id) || id < 1) return missing(id);
  try {
    const item = await call(inboxApi.one, { params: { id: String(id) } });
    return { id, item, gone: false, trouble: '' };
  } catch (error) {
    if (error instanceof Problem && error.code === 'inbox.unknown') return missing(id);
    return { id, item: undefined, gone: false, trouble: formatError(error) };
  }
}

function missing(id: number): Reached {
  return { id, item: undefined, gone: true, trouble: '' };
}

export const reached = new ReachedRow();
