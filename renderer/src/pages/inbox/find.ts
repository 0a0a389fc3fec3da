import { inboxApi } from '../../../../services/contracts/inbox/api.ts';
import { call } from '../../api/call.ts';
import { firstLine } from '../../parts/text/line.ts';
import { plain } from '../../parts/text/plain.ts';
import type { Find } from '../../state/find.ts';

/** Messages by their words, the newest first. */
const find: Find = async (words, signal) => {
  const { items } = await call(inboxApi.list, { query: { q: words, limit: 6 }, signal });
  const found = items.map((item) => ({
    id: `message-${String(item.id)}`,
    title: plain(item.title) || firstLine(item),
    note: plain(item.title) === '' ? '' : firstLine(item).slice(0, 80),
    ...{ icon: 'inbox' as const, to: `/inbox/messages/${String(item.id)}` },
  }));
  return [{ title: 'In the inbox', found }];
};

export default find;
