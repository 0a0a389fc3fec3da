import type { InboxItem } from '../../../../services/contracts/inbox/api.ts';

/** What the list is narrowed to; empty strings stand for no restriction. */
export interface InboxFilter {
  readonly words: string;
  readonly source: string;
  readonly tag: string;
  /** Least priority, 1 to 5. */
  readonly priority: number;
  readonly show: 'open' | 'unread' | 'done';
}

export const wholeInbox: InboxFilter = { words: '', source: '', tag: '', priority: 1, show: 'open' };

/** Whether a row that has just arrived or changed belongs into the list. The host's search says the same of stored rows. */
export function belongs(item: InboxItem, filter: InboxFilter): boolean {
  if (filter.source !== '' && item.source !== filter.source) return false;
  if (filter.tag !== '' && !item.tags.includes(filter.tag)) return false;
  if (item.priority < filter.priority) return false;
  const text = `${item.title}\n${item.body}`.toLowerCase();
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.every((word) => text.includes(word))) return false;
  return (filter.show !== 'unread' || !item.read) && hasPlace(item, filter);
}

/** Whether a row may stay though it was read or put away: rows do not vanish under the pointer without a reason. */
export function hasPlace(item: InboxItem, filter: InboxFilter): boolean {
  return wantsDone(filter) === undefined || wantsDone(filter) === item.done;
}

/** Whether the list has the newest of repeats alone: among the unread each counts, and a search is for one of them. */
export function groups({ words, show }: InboxFilter): boolean {
  return words.trim() === '' && show !== 'unread';
}

/** Rows that were put away are in their own list, and are still found by search: undefined stands for both kinds. */
export function wantsDone({ words, show }: InboxFilter): boolean | undefined {
  if (show === 'done') return true;
  return words.trim() === '' ? false : undefined;
}
