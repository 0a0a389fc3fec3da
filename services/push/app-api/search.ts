import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushSearchApi } from '../../contracts/push/search.ts';
import type { Search } from '../search/search.ts';
import { toPage } from './page-message.ts';
import { requireIdentity } from './fields.ts';

/** Our own API around what was published before. */
export function searchHandlers(search: Search): readonly ApiHandler[] {
  return [
    implement(pushSearchApi.search, async ({ identity, query }) => {
      const { since, until = Infinity, before = Infinity, ...question } = query;
      const { messages, next = null } = await search.search(requireIdentity(identity), {
        ...question,
        since: Math.floor(since / 1000),
        until: Math.min(Math.floor(until / 1000), Number.MAX_SAFE_INTEGER),
        before: Math.min(before, Number.MAX_SAFE_INTEGER),
      });
      return { messages: messages.map(({ seq, message }) => toPage(message, seq)), next };
    }),
  ];
}
