import type { Kysely, Selectable } from 'kysely';
import { z } from 'zod';
import { parseJson } from '../../contracts/parse-json.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { zeroId, type RefChange } from '../domain/ref-change.ts';
import type { Git } from '../engine/git.ts';
import { readReferences } from '../repositories/references.ts';
import type { Repositories, Repository } from '../repositories/repositories.ts';
import type { RepositoriesFolder } from '../repositories/repositories-folder.ts';
import { removeReferenceLocks } from '../repositories/stale-files.ts';
import type { Tables } from '../store/tables.ts';
import type { Pushes } from './pushes.ts';

const changesSchema = z.array(z.object({ ref: z.string(), before: z.string(), after: z.string() }));

type PushRow = Selectable<Tables['pushes']>;

/**
 * Time for which a push of an ended host is expected to change references, ms. Its git process can outlive the host.
 */
const giveUpAfterMs = 10 * 60_000;
/** Age from which a push of a host with an earlier version, which does not identify itself, counts as interrupted, ms. */
const unknownHostAfterMs = 2 * 60 * 60_000;
/** Minimum age of a lock that no git process can be using, ms. A reference is locked only for a moment. */
const minLockAgeMs = 60_000;
/** Maximum difference between the clocks of hosts for which a push is found in the history, ms. */
const clockToleranceMs = 60_000;

export interface PushRecoveryDependencies {
  readonly context: Pick<Context, 'clock' | 'commit' | 'db' | 'leases' | 'log' | 'singleHost'>;
  readonly git: Git;
  readonly pushes: Pick<Pushes, 'current' | 'settle'>;
  readonly repositories: Repositories;
  readonly repositoriesFolder: Pick<RepositoriesFolder, 'readClock'>;
  readonly folder: (repository: Repository) => string;
}

/** Records pushes that a host received but did not record, because it ended or its database did not respond. */
export class PushRecovery {
  readonly #dependencies: PushRecoveryDependencies;

  constructor(deps: PushRecoveryDependencies) {
    this.#dependencies = deps;
  }

  /**
   * Records interrupted pushes, optionally only those of one repository.
   * @throws Problem (503) if the repositories are not available
   */
  async run(repositoryId?: number): Promise<void> {
    const { context, repositories } = this.#dependencies;
    for (const row of await this.#listInterrupted(repositoryId)) {
      const repository = await repositories.findById(row.repository_id);
      if (repository === undefined) continue;
      try {
        await this.#recover(row, repository);
      } catch (error) {
        if (error instanceof Problem && error.status === 503) throw error;
        // A push that cannot be recovered, for example with commits that never existed, must not block the others.
        context.log.error('interrupted push could not be recovered and was dropped', {
          repository: repository.id,
          error,
        });
        await context.commit((transaction: Kysely<Tables>) =>
          transaction.deleteFrom('pushes').where('id', '=', row.id).execute(),
        );
      }
    }
  }

  /** Records interrupted pushes of a repository, unless no other host uses it: this host did that at its start. */
  async runAmongHosts(repositoryId: number): Promise<void> {
    if (!this.#dependencies.context.singleHost) await this.run(repositoryId);
  }

  async #listInterrupted(repositoryId: number | undefined): Promise<readonly PushRow[]> {
    const { context, pushes } = this.#dependencies;
    let query = (context.db as Kysely<Tables>).selectFrom('pushes').selectAll();
    if (repositoryId !== undefined) query = query.where('repository_id', '=', repositoryId);
    const rows = await query.execute();
    const hosts = rows.flatMap(({ host_id }) => (host_id === null ? [] : [host_id]));
    const ended = await context.leases.findEnded([...new Set(hosts)]);
    const unknownSince = context.singleHost ? Number.POSITIVE_INFINITY : context.clock.now() - unknownHostAfterMs;
    return rows.filter(({ id, host_id, begun_at }) => {
      if (host_id === null) return begun_at < unknownSince;
      return ended.has(host_id) || (host_id === context.leases.hostId && !pushes.current.has(id));
    });
  }

  async #recover(row: PushRow, repository: Repository): Promise<void> {
    const { context, git, pushes, repositoriesFolder } = this.#dependencies;
    const folder = this.#dependencies.folder(repository);
    const changes = changesSchema.parse(parseJson(row.commands));
    const applied = await findRecoverableChanges(git, folder, changes);
    if (applied.length < changes.length) {
      // The processes of this computer have ended before the start.
      const clock = context.singleHost ? Number.POSITIVE_INFINITY : await repositoriesFolder.readClock();
      await removeReferenceLocks(folder, changes, clock - minLockAgeMs);
      if (!context.singleHost && context.clock.now() < row.begun_at + giveUpAfterMs) return;
    }
    const unreported = await this.#filterUnreported(row, applied);
    await pushes.settle(row.id, repository, row.account, unreported);
    context.log.info('interrupted push recovered', { repository: repository.id, made: unreported.length });
  }

  /** Removes changes that another push made: a client repeats an interrupted push at another host. */
  async #filterUnreported(row: PushRow, changes: readonly RefChange[]): Promise<readonly RefChange[]> {
    if (changes.length === 0) return [];
    const db: Kysely<Tables> = this.#dependencies.context.db;
    const recorded = await db
      .selectFrom('push_history')
      .select(['ref', 'after'])
      .where('repository_id', '=', row.repository_id)
      .where('created_at', '>=', row.begun_at - clockToleranceMs)
      .execute();
    const others = await db
      .selectFrom('pushes')
      .select('commands')
      .where('repository_id', '=', row.repository_id)
      .where('id', '!=', row.id)
      .where('begun_at', '>=', row.begun_at - clockToleranceMs)
      .execute();
    const pending = others.flatMap(({ commands }) => changesSchema.parse(parseJson(commands)));
    return changes.filter(
      ({ ref, after }) => ![...recorded, ...pending].some((other) => other.ref === ref && other.after === after),
    );
  }
}

/** Returns the changes whose reference has the new value, or had it and contains it. */
async function findRecoverableChanges(
  git: Git,
  folder: string,
  changes: readonly RefChange[],
): Promise<readonly RefChange[]> {
  const current = new Map((await readReferences(git, folder, 'refs/')).map(({ ref, id }) => [ref, id]));
  const applied: RefChange[] = [];
  for (const change of changes) {
    const value = current.get(change.ref) ?? zeroId;
    if (value === change.after || (await isContained(git, folder, change.after, value))) applied.push(change);
  }
  return applied;
}

/** Returns whether a later push followed: git stores the commits of a push only if it changes the reference. */
async function isContained(git: Git, folder: string, commit: string, head: string): Promise<boolean> {
  if (commit === zeroId || head === zeroId) return false;
  // The commits of a push that was not completed do not exist.
  const args = ['merge-base', '--is-ancestor', commit, head];
  return (await git.run(folder, args, { allowedExitCodes: [1, 128] })).code === 0;
}
