import { wholeInbox, type InboxFilter } from './list-rules.ts';

const shows: readonly InboxFilter['show'][] = ['open', 'unread', 'done'];

/** The filter that an address asks for; what it does not name, or names wrongly, narrows nothing. */
export function filterOf(query: Readonly<URLSearchParams>): InboxFilter {
  const priority = Number(query.get('priority') ?? 1);
  return {
    words: query.get('q') ?? '',
    source: query.get('source') ?? '',
    tag: query.get('tag') ?? '',
    priority: Number.isInteger(priority) && priority >= 1 && priority <= 5 ? priority : 1,
    show: shows.find((show) => show === query.get('show')) ?? 'open',
  };
}

/** Whether it leaves anything out that the whole inbox has. */
export function narrows(filter: InboxFilter): boolean {
  return JSON.stringify(filter) !== JSON.stringify(wholeInbox);
}
