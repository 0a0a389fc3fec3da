import { inboxApi, inboxChanged, type InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { call, isNotFound } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';

/** Result of loading the message in the address, which is not in the list. */
export interface RequestedItem {
  readonly id: number;
  readonly item: InboxItem | undefined;
  /** The message does not exist or was deleted. */
  readonly isDeleted: boolean;
  /** The error when loading failed for another reason. */
  readonly failure: unknown;
}

/** The message that is loaded separately, because it was filtered out, is done or is far down. */
class RequestedItemLoader {
  current = $state.raw<RequestedItem | undefined>();
  #turn = 0;

  constructor() {
    live.on(inboxChanged, ({ ids, change }) => {
      const item = this.current?.item;
      // An event without ids concerns all rows.
      if (item === undefined || (ids.length > 0 && !ids.includes(item.id))) return;
      if (change.removed) this.current = buildMissing(item.id);
      else {
        const next = { ...item, read: change.read ?? item.read, done: change.done ?? item.done };
        this.current = { id: item.id, item: next, isDeleted: false, failure: undefined };
      }
    });
    live.onReset(() => {
      const id = this.current?.id;
      if (id !== undefined) void this.load(id);
    });
  }

  /** Loads a message; a later call supersedes an earlier one. */
  async load(id: number): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    const loaded = await fetchItem(id);
    if (turn === this.#turn) this.current = loaded;
  }
}

async function fetchItem(id: number): Promise<RequestedItem> {
  if (!Number.isSafeInteger(id) || id < 1) return buildMissing(id);
  try {
    const item = await call(inboxApi.one, { params: { id: String(id) } });
    return { id, item, isDeleted: false, failure: undefined };
  } catch (error) {
    if (isNotFound(error)) return buildMissing(id);
    return { id, item: undefined, isDeleted: false, failure: error };
  }
}

function buildMissing(id: number): RequestedItem {
  return { id, item: undefined, isDeleted: true, failure: undefined };
}

export const requestedItem = new RequestedItemLoader();
