import type { Kysely } from 'kysely';
import type { InboxItem, InboxOffer } from '../../contracts/inbox/api.ts';
import { executeCached } from '../../kit/cached-statement.ts';
import { assignRuns } from './repeats.ts';
import type { Tables } from './tables.ts';

/** Inserts a row for each offer and returns them in order. */
export async function insertItems(
  transaction: Kysely<Tables>,
  offers: readonly InboxOffer[],
): Promise<readonly InboxItem[]> {
  const { rows: placements, repeated } = await assignRuns(transaction, offers);
  const rows = offers.map((offer, index) => ({ ...toRow(offer), ...placements[index] }));
  const build = () => transaction.insertInto('items').values(rows).returning('id').compile();
  const values = rows.flatMap((row) => Object.values(row));
  const inserted = await executeCached(transaction, `inbox.items ${String(rows.length)}`, values, build);
  // Databases do not guarantee the order of returned rows, but ids are assigned in insertion order.
  const ids = inserted.rows.map(({ id }) => id).sort((a, b) => a - b);
  return offers.map((offer, index) => {
    const repeatedItem = repeated[index];
    const item = newItem(ids[index] ?? 0, offer);
    if (repeatedItem === undefined) return item;
    return { ...item, repeated: 'id' in repeatedItem ? repeatedItem.id : (ids[repeatedItem.index] ?? 0) };
  });
}

/** Inserts keys. Fails when another host inserted a key concurrently; a retry then finds it. */
export async function insertKeys(transaction: Kysely<Tables>, keys: readonly Tables['offers'][]): Promise<void> {
  const build = () => transaction.insertInto('offers').values(keys).compile();
  const values = keys.flatMap(({ key, time, item }) => [key, time, item]);
  await executeCached(transaction, `inbox.keys ${String(keys.length)}`, values, build);
}

/** Returns the columns in a fixed order, so that the compiled statement can be reused. */
function toRow(offer: InboxOffer) {
  const { title, body, format, priority, tags, source, topic, link = null, picture = null, time } = offer;
  return {
    title,
    body,
    format,
    priority,
    tags: JSON.stringify(tags),
    source,
    topic,
    link,
    picture,
    time,
    read: 0 as const,
    done: 0 as const,
    search: '',
  };
}

function newItem(id: number, offer: InboxOffer): InboxItem {
  return { id, ...offer, link: offer.link ?? null, read: false, done: false };
}
