import type { z } from 'zod';
import { inboxApi, type InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { call } from '../../api/call.ts';

/** Rows that one request brings at most. */
const mostAtOnce = 200;

/** The list from its newest row down to `last`, in as many requests as that takes, but no more than about `most` rows of it. */
export async function readDown(
  query: Omit<z.input<typeof inboxApi.list.query>, 'limit' | 'before'>,
  last: number,
  most: number,
): Promise<{ readonly items: readonly InboxItem[]; readonly total: number }> {
  const items: InboxItem[] = [];
  for (;;) {
    const reply = await call(inboxApi.list, { query: { ...query, limit: mostAtOnce, before: items.at(-1)?.id } });
    items.push(...reply.items);
    const end = reply.items.at(-1);
    if (end === undefined || reply.items.length < mostAtOnce || end.id <= last || items.length >= most) {
      return { items, total: reply.total };
    }
  }
}
