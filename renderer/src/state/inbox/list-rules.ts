import type { InboxItem } from '../../../../services/contracts/inbox/api.ts';

/** Filters of the list; empty strings do not restrict the list. */
export interface InboxFilter {
  readonly query: string;
  readonly source: string;
  readonly tag: string;
  /** Minimum priority from 1 to 5. */
  readonly priority: number;
  readonly show: 'open' | 'unread' | 'done';
}

export const noFilter: InboxFilter = { query: '', source: '', tag: '', priority: 1, show: 'open' };

/**
 * True for a row that matches the filter when it arrives or changes. The host's search has the same rules for stored
 * rows.
 */
export function matchesFilter(item: InboxItem, filter: InboxFilter): boolean {
  if (filter.source !== '' && item.source !== filter.source) return false;
  if (filter.tag !== '' && !item.tags.includes(filter.tag)) return false;
  if (item.priority < filter.priority) return false;
  const text = `${item.title}\n${item.body}`.toLowerCase();
  const query = filter.query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!query.every((word) => text.includes(word))) return false;
  return (filter.show !== 'unread' || !item.read) && mayStay(item, filter);
}

/** True for a row that stays in the list after it was read, so that rows do not disappear under the pointer. */
export function mayStay(item: InboxItem, filter: InboxFilter): boolean {
  return getDoneFilter(filter) === undefined || getDoneFilter(filter) === item.done;
}

/**
 * True when repeats are grouped in the list. The unread view lists each message, and a search may look for any of
 * them.
 */
export function groupsRepeats({ query, show }: InboxFilter): boolean {
  return query.trim() === '' && show !== 'unread';
}

/** Returns whether the list has rows that are done. Undefined means both, because a search includes them. */
export function getDoneFilter({ query, show }: InboxFilter): boolean | undefined {
  if (show === 'done') return true;
  return query.trim() === '' ? false : undefined;
}
