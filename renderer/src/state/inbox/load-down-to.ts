import type { z } from 'zod';
import { inboxApi, type InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { call } from '../../api/call.ts';

/** Maximum number of rows in one call. */
const pageSize = 200;

/** Loads the list from its newest row down to `last` in several calls, up to about `most` rows. */
export async function loadDownTo(
  query: Omit<z.input<typeof inboxApi.list.query>, 'limit' | 'before'>,
  last: number,
  maxRows: number,
): Promise<{ readonly items: readonly InboxItem[]; readonly total: number }> {
  const items: InboxItem[] = [];
  for (;;) {
    const reply = await call(inboxApi.list, { query: { ...query, limit: pageSize, before: items.at(-1)?.id } });
    items.push(...reply.items);
    const oldest = reply.items.at(-1);
    if (oldest === undefined || reply.items.length < pageSize || oldest.id <= last || items.length >= maxRows) {
      return { items, total: reply.total };
    }
  }
}
