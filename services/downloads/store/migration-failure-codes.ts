import type { Kysely } from 'kysely';
import type { FailureCode } from '../../contracts/downloads/causes.ts';
import type { Migration } from '../../contracts/service.ts';
import { findFailureCode, isPageMissing } from '../domain/engine-messages.ts';

interface Tables {
  downloads: { uid: string; state: string; message: string | null; failure: string | null };
  downloads_subscriptions: { id: string; error: string | null; failure: string | null };
}

/** Sentences of older versions, which stored no codes. */
const sentences: readonly (readonly [FailureCode, RegExp])[] = [
  ['disk_full', /^The disk (of the [a-z ]+ )?is full/],
  ['folder_not_writable', /^The (download folder|folder for unfinished files) cannot be written/],
  ['yt_dlp_missing', /^yt-dlp (is missing|.* is too old)/],
  ['unreachable', /^The site did not say within/],
];

function findStoredCode(message: string): FailureCode | null {
  return sentences.find(([, pattern]) => pattern.test(message))?.[0] ?? findFailureCode(message) ?? null;
}

/** Rows per statement. */
const batchSize = 500;

/** Adds the codes of failures, and derives those of the rows of older versions from their messages, once. */
export const failureCodes: Migration = {
  name: '053-failure-codes',
  async up(db) {
    await db.schema.alterTable('downloads').addColumn('failure', 'text').execute();
    await db.schema.alterTable('downloads_subscriptions').addColumn('failure', 'text').execute();
    const tables = db as Kysely<Tables>;
    let lastUid: string | undefined = '';
    while (lastUid !== undefined) lastUid = await storeNextCodes(tables, lastUid);
    const subscriptions = await tables
      .selectFrom('downloads_subscriptions')
      .select(['id', 'error'])
      .where('error', 'is not', null)
      .execute();
    for (const { id, error } of subscriptions) {
      const failure = isPageMissing(error ?? '') ? 'not_found' : findStoredCode(error ?? '');
      await tables.updateTable('downloads_subscriptions').set({ failure }).where('id', '=', id).execute();
    }
  },
};

/** Stores the codes of the next failed downloads by uid, and returns the last uid; undefined at the end. */
async function storeNextCodes(tables: Kysely<Tables>, lastUid: string): Promise<string | undefined> {
  const downloads = await tables
    .selectFrom('downloads')
    .select(['uid', 'message'])
    .where('state', '=', 'failed')
    .where('message', 'is not', null)
    .where('uid', '>', lastUid)
    .orderBy('uid')
    .limit(batchSize)
    .execute();
  for (const [failure, rows] of Map.groupBy(downloads, ({ message }) => findStoredCode(message ?? ''))) {
    const uids = rows.map(({ uid }) => uid);
    if (failure !== null) await tables.updateTable('downloads').set({ failure }).where('uid', 'in', uids).execute();
  }
  return downloads.at(-1)?.uid;
}
