import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from '../store/tables.ts';
import { readFolderContent } from './repository-folders.ts';
import { unknownHostAfterMs } from './unknown-hosts.ts';

export interface StaleRepositoriesDependencies {
  readonly context: Pick<Context, 'clock' | 'commit' | 'db' | 'leases' | 'log' | 'singleHost'>;
  /** Folder with all repositories. */
  readonly root: string;
  /** A folder in the data folder does not exist before the first repository. */
  readonly mayBeMissing: boolean;
}

/**
 * Removes the rows of repositories whose creation was interrupted, and folders without a row. A host that the database
 * did not answer seems to have ended until it renews its lease, so rows are removed only if their host had ended in the
 * previous run as well.
 */
export class StaleRepositories {
  readonly #dependencies: StaleRepositoriesDependencies;
  /** Hosts that had ended in the previous run. */
  #endedHosts: ReadonlySet<string> = new Set();

  constructor(deps: StaleRepositoriesDependencies) {
    this.#dependencies = deps;
  }

  /**
   * The folder of a repository is created before its row, so `modifiedBefore` excludes those that another host is
   * creating.
   */
  async remove(modifiedBefore = Number.POSITIVE_INFINITY): Promise<void> {
    const { context, root, mayBeMissing } = this.#dependencies;
    await this.#removeInterruptedRows();
    const { folders } = await readFolderContent(root, { mayBeMissing });
    const rows = await this.#db.selectFrom('repositories').select('folder').execute();
    const existing = new Set(rows.map(({ folder }) => folder));
    for (const { part, name, isRemoved } of folders) {
      if (existing.has(name.replace(/\.git$/, ''))) continue;
      const path = join(root, part, name);
      try {
        const status = await stat(path);
        if (status.isDirectory() && (isRemoved || status.mtimeMs < modifiedBefore)) await removeTree(path);
      } catch (error) {
        // On network file systems, files that another host reads cannot be removed yet.
        context.log.warn('stale repository folder could not be removed', { error });
      }
    }
  }

  get #db(): Kysely<Tables> {
    return this.#dependencies.context.db;
  }

  async #removeInterruptedRows(): Promise<void> {
    const { clock, commit, singleHost } = this.#dependencies.context;
    const rows = await this.#db
      .selectFrom('repositories')
      .select(['id', 'filling_host', 'created_at'])
      .where('filling', '=', 1)
      .execute();
    const ended = await this.#updateEnded(rows.flatMap(({ filling_host: host }) => host ?? []));
    const unknownSince = singleHost ? Number.POSITIVE_INFINITY : clock.now() - unknownHostAfterMs;
    for (const { id, filling_host: host, created_at } of rows) {
      if (host === null ? created_at >= unknownSince : !ended.has(host)) continue;
      await commit((transaction: Kysely<Tables>) =>
        transaction.deleteFrom('repositories').where('id', '=', id).where('filling', '=', 1).execute(),
      );
    }
  }

  /** Returns the hosts that have certainly ended. */
  async #updateEnded(hosts: readonly string[]): Promise<ReadonlySet<string>> {
    const { leases, singleHost } = this.#dependencies.context;
    const previous = this.#endedHosts;
    this.#endedHosts = await leases.findEnded([...new Set(hosts)]);
    return singleHost ? this.#endedHosts : new Set([...this.#endedHosts].filter((host) => previous.has(host)));
  }
}
