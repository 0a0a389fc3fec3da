import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from '../store/tables.ts';
import { listParts } from './backup.ts';

/** Age from which a row of a host with an earlier version, which does not identify itself, counts as interrupted, ms. */
const unknownHostAfterMs = 2 * 60 * 60_000;

export interface StaleRepositoriesDependencies {
  readonly context: Pick<Context, 'clock' | 'commit' | 'db' | 'leases' | 'log' | 'singleHost'>;
  /** Folder with all repositories. */
  readonly root: string;
}

/**
 * Removes the rows of repositories whose creation was interrupted, and folders without a row. The folder of a repository
 * is created before its row, so `modifiedBefore` excludes those that another host is creating.
 */
export async function removeStaleRepositories(
  { context, root }: StaleRepositoriesDependencies,
  modifiedBefore = Number.POSITIVE_INFINITY,
): Promise<void> {
  const db: Kysely<Tables> = context.db;
  await removeInterruptedRows(context, db);
  const paths = (await Promise.all((await listParts(root)).map((part) => listFolder(join(root, part))))).flat();
  const rows = await db.selectFrom('repositories').select('folder').execute();
  const existing = new Set(rows.map(({ folder }) => folder));
  for (const { name, path } of paths) {
    if (existing.has(name.replace(/\.git$/, ''))) continue;
    try {
      // Folders of deleted repositories are renamed first.
      if (name.endsWith('.removed') || (await stat(path)).mtimeMs < modifiedBefore) await removeTree(path);
    } catch (error) {
      // On network file systems, files that another host reads cannot be removed yet.
      context.log.warn('stale repository folder could not be removed', { error });
    }
  }
}

async function removeInterruptedRows(
  { clock, commit, leases, singleHost }: StaleRepositoriesDependencies['context'],
  db: Kysely<Tables>,
): Promise<void> {
  const rows = await db
    .selectFrom('repositories')
    .select(['id', 'filling_host', 'created_at'])
    .where('filling', '=', 1)
    .execute();
  const ended = await leases.findEnded([...new Set(rows.flatMap(({ filling_host: host }) => host ?? []))]);
  const unknownSince = singleHost ? Number.POSITIVE_INFINITY : clock.now() - unknownHostAfterMs;
  for (const { id, filling_host: host, created_at } of rows) {
    if (host === null ? created_at >= unknownSince : !ended.has(host)) continue;
    await commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('repositories').where('id', '=', id).where('filling', '=', 1).execute(),
    );
  }
}

async function listFolder(path: string): Promise<readonly { readonly name: string; readonly path: string }[]> {
  return (await readdir(path)).map((name) => ({ name, path: join(path, name) }));
}
