import type { Kysely } from 'kysely';
import type { InboxItem, InboxOffer } from '../../contracts/inbox/api.ts';
import { executeCached } from '../../kit/cached-statement.ts';
import { placeRepeats } from './repeats.ts';
import type { Tables } from './tables.ts';

/** Adds a row for each offer; answers them in their order. */
export async function insertItems(
  transaction: Kysely<Tables>,
  offers: readonly InboxOffer[],
): Promise<readonly InboxItem[]> {
  const { rows: placements, repeated } = await placeRepeats(transaction, offers);
  const rows = offers.map((offer, index) => ({ ...rowOf(offer), ...placements[index] }));
  const build = () => transaction.insertInto('items').values(rows).returning('id').compile();
  const values = rows.flatMap((row) => Object.values(row));
  const inserted = await executeCached(transaction, `inbox.items ${String(rows.length)}`, values, build);
  // Neither database promises the order in which it returns rows, but both number them in the order given.
  const ids = inserted.rows.map(({ id }) => id).sort((a, b) => a - b);
  return offers.map((offer, index) => {
    const before = repeated[index];
    const item = newItem(ids[index] ?? 0, offer);
    if (before === undefined) return item;
    return { ...item, repeated: 'id' in before ? before.id : (ids[before.index] ?? 0) };
  });
}

/** A key that another host has taken in this moment fails here, and is known when the offer is tried again. */
export async function insertKeys(transaction: Kysely<Tables>, keys: readonly Tables['offers'][]): Promise<void> {
  const build = () => transaction.insertInto('offers').values(keys).compile();
  const values = keys.flatMap(({ key, time, item }) => [key, time, item]);
  await executeCached(transaction, `inbox.keys ${String(keys.length)}`, values, build);
}

/** In one order, whoever made the offer: the statement's text is kept. */
function rowOf(offer: InboxOffer) {
  const { title, body, format, priority, tags, source, topic, link = null, time } = offer;
  return {
    ...{ title, body, format, priority, tags: JSON.stringify(tags), source, topic, link, time },
    ...{ read: 0 as const, done: 0 as const, search: '' },
  };
}

function newItem(id: number, offer: InboxOffer): InboxItem {
  return { id, ...offer, link: offer.link ?? null, read: false, done: false };
}
