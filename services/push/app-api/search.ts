import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushSearchApi } from '../../contracts/push/search.ts';
import type { Search } from '../search/search.ts';
import { toPageMessage } from './page-message.ts';
import { requireIdentity } from './fields.ts';

/** Handler for the search over published messages. */
export function searchHandlers(search: Search): readonly ApiHandler[] {
  return [
    implement(pushSearchApi.search, async ({ identity, query }) => {
      const { since, until = Infinity, before = Infinity, ...criteria } = query;
      const { messages, next = null } = await search.search(requireIdentity(identity), {
        ...criteria,
        since: Math.floor(since / 1000),
        until: Math.min(Math.floor(until / 1000), Number.MAX_SAFE_INTEGER),
        before: Math.min(before, Number.MAX_SAFE_INTEGER),
      });
      return { messages: messages.map(({ seq, message }) => toPageMessage(message, seq)), next };
    }),
  ];
}
