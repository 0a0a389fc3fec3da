import * as m from '#messages/inbox';
import { toasts } from '../../state/toasts.svelte.ts';
import { undoChange, type Changed } from '../../state/inbox/changes.ts';
import { inbox } from '../../state/inbox/inbox.svelte.ts';

/** Marks rows as read or unread, with Undo. */
export async function markRowsRead(ids: readonly number[], read: boolean): Promise<void> {
  const changed = await inbox.mark(ids, { read });
  const values = { count: ids.length };
  showWithUndo(read ? m.markedRead(values) : m.markedUnread(values), changed);
}

/** Marks all rows as read, with Undo. */
export async function markAllRead(): Promise<void> {
  const changed = await inbox.mark('all', { read: true });
  showWithUndo(m.markedRead({ count: changed.count }), changed);
}

/** Marks rows as done or not done, with Undo. */
export async function setRowsDone(ids: readonly number[], done: boolean): Promise<void> {
  const changed = await inbox.mark(ids, { done, read: true });
  const values = { count: ids.length };
  showWithUndo(done ? m.messagesPutAway(values) : m.messagesPutBack(values), changed);
}

function showWithUndo(message: string, changed: Changed): void {
  toasts.show(message, {
    undo: async () => {
      await undoChange(changed);
      await inbox.load(inbox.filter);
    },
  });
}
