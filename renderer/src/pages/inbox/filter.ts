import { noFilter, type InboxFilter } from '../../state/inbox/list-rules.ts';

const showValues: readonly InboxFilter['show'][] = ['open', 'unread', 'done'];

/** Parses the filter of an address; missing or invalid fields do not restrict the list. */
export function parseFilter(query: Readonly<URLSearchParams>): InboxFilter {
  const priority = Number(query.get('priority') ?? 1);
  return {
    query: query.get('q') ?? '',
    source: query.get('source') ?? '',
    tag: query.get('tag') ?? '',
    priority: Number.isInteger(priority) && priority >= 1 && priority <= 5 ? priority : 1,
    show: showValues.find((show) => show === query.get('show')) ?? 'open',
  };
}

/** True for a filter that leaves anything out. */
export function isFiltered(filter: InboxFilter): boolean {
  return JSON.stringify(filter) !== JSON.stringify(noFilter);
}
