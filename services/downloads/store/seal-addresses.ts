import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Context, Migration } from '../../contracts/service.ts';
import type { Addresses } from './addresses.ts';
import { withoutSecrets } from '../domain/address.ts';
import type { Order } from '../domain/order.ts';
import { buildSearchText, toStorableText, type DownloadRow } from './rows.ts';

interface Tables {
  downloads: DownloadRow;
  downloads_subscriptions: { id: string; url: string; name: string; request: string; error: string | null };
  /** Completed upgrades. */
  downloads_upgrades: { name: string };
}

const upgrade = 'seal-addresses';
/** Rows per commit, so that other transactions can run in between. */
const batchSize = 200;

/** Stores completed upgrades that a migration cannot do, because it has no vault. */
export const upgradesMigration: Migration = {
  name: '050-upgrades',
  async up(db) {
    await db.schema
      .createTable('downloads_upgrades')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .execute();
  },
};

/** Seals the secrets in addresses that older versions stored in plain text, once. It can be interrupted at any row. */
export async function sealAddresses(
  { commit, db: database }: Pick<Context, 'commit' | 'db'>,
  addresses: Addresses,
): Promise<void> {
  const db: Kysely<Tables> = database;
  const done = await db.selectFrom('downloads_upgrades').select('name').where('name', '=', upgrade).execute();
  if (done.length > 0) return;
  const downloads = await db.selectFrom('downloads').select('uid').where('url', 'like', '%?%').execute();
  for (let offset = 0; offset < downloads.length; offset += batchSize, await nextTurn()) {
    const uids = downloads.slice(offset, offset + batchSize).map(({ uid }) => uid);
    await commit((transaction) => sealDownloads(transaction, uids, addresses));
  }
  await commit(async (transaction: Kysely<Tables>) => {
    await sealSubscriptions(transaction, addresses);
    await transaction
      .insertInto('downloads_upgrades')
      .values({ name: upgrade })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
}

async function sealDownloads(db: Kysely<Tables>, uids: readonly string[], addresses: Addresses): Promise<void> {
  const rows = await db.selectFrom('downloads').selectAll().where('uid', 'in', uids).execute();
  for (const row of rows) {
    const { displayUrl, secrets } = addresses.split(row.url);
    if (secrets === null) continue;
    const title = row.title === row.url ? displayUrl : row.title;
    const order = JSON.parse(row.request) as Order;
    const values = {
      url: toStorableText(displayUrl),
      request: JSON.stringify({ ...order, secrets }),
      title,
      search: buildSearchText({ title, url: displayUrl }),
      video_id: row.video_id === row.url ? displayUrl : row.video_id,
      message: row.message === null ? null : withoutSecrets(row.message),
    };
    await db.updateTable('downloads').set(values).where('uid', '=', row.uid).execute();
  }
}

async function sealSubscriptions(db: Kysely<Tables>, addresses: Addresses): Promise<void> {
  const rows = await db
    .selectFrom('downloads_subscriptions')
    .select(['id', 'url', 'name', 'request', 'error'])
    .execute();
  for (const { id, url, name, request, error } of rows) {
    const { displayUrl, secrets } = addresses.split(url);
    if (secrets === null) continue;
    const values = {
      url: displayUrl,
      name: name === url ? displayUrl : name,
      request: JSON.stringify({ ...(JSON.parse(request) as Order), secrets }),
      error: error === null ? null : withoutSecrets(error),
    };
    await db.updateTable('downloads_subscriptions').set(values).where('id', '=', id).execute();
  }
}
