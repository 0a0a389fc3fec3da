import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import type { MaskedUrls } from './masked-urls.ts';
import type { NotifyTables } from './tables.ts';

const StoredLevelDelivery = z.looseObject({ row: z.looseObject({ shownUrl: z.string() }) });

/** Maximum number of rows in one commit, so that other writers are not delayed. */
const batchSize = 200;
const unsealedPattern = '%://%';

/**
 * Seals the URLs that older versions stored unsealed; a migration has no vault. Every start continues with the
 * remaining ones, so it can be interrupted.
 */
export async function sealMaskedUrls(
  { commit }: Pick<Context, 'commit'>,
  urls: MaskedUrls,
  isStopped: () => boolean,
): Promise<void> {
  for (const sealSome of [sealEscalations, sealDeliveries, sealEngineUrls]) {
    for (let updatedCount = batchSize; updatedCount === batchSize && !isStopped(); await nextTurn()) {
      updatedCount = await commit((transaction) => sealSome(transaction, urls));
    }
  }
}

/** Starts the sealing in the background. The disposal stops it after the current batch. */
export function startSealing(context: Pick<Context, 'commit' | 'log'>, urls: MaskedUrls): AsyncDisposable {
  let isStopped = false;
  const sealing = sealMaskedUrls(context, urls, () => isStopped).catch((error: unknown) =>
    context.log.warn('sealing of old addresses failed', { error }),
  );
  return {
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await sealing;
    },
  };
}

/** Seals the rows of escalations, which are few and temporary. */
async function sealEscalations(db: Kysely<NotifyTables>, urls: MaskedUrls): Promise<number> {
  const rows = await db
    .selectFrom('escalations')
    .select(['notice_id', 'destination_id', 'held'])
    .where('held', 'like', unsealedPattern)
    .execute();
  for (const { notice_id, destination_id, held } of rows) {
    const { row, ...rest } = StoredLevelDelivery.parse(JSON.parse(held));
    if (!row.shownUrl.includes('://')) continue;
    await db
      .updateTable('escalations')
      .set({ held: JSON.stringify({ ...rest, row: { ...row, shownUrl: urls.seal(row.shownUrl) } }) })
      .where('notice_id', '=', notice_id)
      .where('destination_id', '=', destination_id)
      .execute();
  }
  // All rows are sealed in one pass.
  return 0;
}

async function sealDeliveries(db: Kysely<NotifyTables>, urls: MaskedUrls): Promise<number> {
  const rows = await db
    .selectFrom('deliveries')
    .select(['notice_id', 'destination_id', 'shown_url'])
    .where('shown_url', 'like', unsealedPattern)
    .limit(batchSize)
    .execute();
  for (const { notice_id, destination_id, shown_url } of rows) {
    await db
      .updateTable('deliveries')
      .set({ shown_url: urls.seal(shown_url) })
      .where('notice_id', '=', notice_id)
      .where('destination_id', '=', destination_id)
      .execute();
  }
  return rows.length;
}

async function sealEngineUrls(db: Kysely<NotifyTables>, urls: MaskedUrls): Promise<number> {
  const rows = await db
    .selectFrom('engine_urls')
    .select(['id', 'shown_url'])
    .where('shown_url', 'like', unsealedPattern)
    .limit(batchSize)
    .execute();
  for (const { id, shown_url } of rows) {
    await db
      .updateTable('engine_urls')
      .set({ shown_url: urls.seal(shown_url) })
      .where('id', '=', id)
      .execute();
  }
  return rows.length;
}
