import { toasts } from '../../state/toasts.svelte.ts';
import { takeBack, type Changed } from './changes.ts';
import { inbox } from './inbox.svelte.ts';
import { messages } from './labels.ts';

/** Marks rows read or unread, with the way to take that back. */
export async function markRowsRead(ids: readonly number[], read: boolean): Promise<void> {
  const changed = await inbox.mark(ids, { read });
  say(`${messages(ids.length)} marked ${read ? 'read' : 'unread'}.`, changed);
}

/** Marks every row read, with the way to take that back. */
export async function markAllRead(): Promise<void> {
  const changed = await inbox.mark('all', { read: true });
  say(`${messages(changed.count)} marked read.`, changed);
}

/** Puts rows away (or back), with the way to take that back. */
export async function finishRows(ids: readonly number[], done: boolean): Promise<void> {
  const changed = await inbox.mark(ids, { done, read: true });
  say(`${messages(ids.length)} ${done ? 'put away' : 'put back'}.`, changed);
}

function say(words: string, changed: Changed): void {
  toasts.show(words, {
    undo: async () => {
      await takeBack(changed);
      await inbox.load(inbox.filter);
    },
  });
}
