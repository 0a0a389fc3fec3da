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
import { unknownHostAfterMs } from '../repositories/unknown-hosts.ts';
import type { Tables } from '../store/tables.ts';
import type { Pushes } from './pushes.ts';

const changesSchema = z.array(z.object({ ref: z.string(), before: z.string(), after: z.string() }));

type PushRow = Selectable<Tables['pushes']>;

/**
 * Time for which a push of an ended host is expected to change references, ms. Its git process can outlive the host.
 */
const giveUpAfterMs = 10 * 60_000;
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
    const rows = await this.#listInterrupted(repositoryId);
    const interrupted = new Set(rows.map(({ id }) => id));
    for (const row of rows) {
      const repository = await repositories.findById(row.repository_id);
      if (repository === undefined) continue;
      try {
        await this.#recover(row, repository, interrupted);
      } catch (error) {
        // Another host is recording a push of the repository. The next run tries again.
        if (error instanceof Problem && error.code === 'git.busy') continue;
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

  async #recover(row: PushRow, repository: Repository, interrupted: ReadonlySet<string>): Promise<void> {
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
    // It is not known yet which of the pushes made the change.
    if (await this.#isRepeated(row, applied, interrupted)) return;
    const unreported = await this.#filterUnreported(row, applied);
    await pushes.settle(row.id, repository, row.account, unreported);
    context.log.info('interrupted push recovered', { repository: repository.id, made: unreported.length });
  }

  /** Returns whether a host is receiving one of the changes again: a client repeats an interrupted push. */
  async #isRepeated(row: PushRow, changes: readonly RefChange[], interrupted: ReadonlySet<string>): Promise<boolean> {
    const others = await (this.#dependencies.context.db as Kysely<Tables>)
      .selectFrom('pushes')
      .select(['id', 'commands'])
      .where('repository_id', '=', row.repository_id)
      .where('begun_at', '>=', row.begun_at - clockToleranceMs)
      .execute();
    const pending = others
      .filter(({ id }) => !interrupted.has(id))
      .flatMap(({ commands }) => changesSchema.parse(parseJson(commands)));
    return changes.some((change) => pending.some((other) => isSameChange(change, other)));
  }

  /** Removes changes that another push made and recorded. */
  async #filterUnreported(row: PushRow, changes: readonly RefChange[]): Promise<readonly RefChange[]> {
    if (changes.length === 0) return [];
    const db: Kysely<Tables> = this.#dependencies.context.db;
    const recorded = await db
      .selectFrom('push_history')
      .select(['ref', 'before', 'after'])
      .where('repository_id', '=', row.repository_id)
      .where('created_at', '>=', row.begun_at - clockToleranceMs)
      .execute();
    return changes.filter((change) => !recorded.some((other) => isSameChange(change, other)));
  }
}

function isSameChange(one: RefChange, other: RefChange): boolean {
  return one.ref === other.ref && one.before === other.before && one.after === other.after;
}

/**
 * Returns the changes whose reference has the new value, or had it: a later push followed whose value contains it. That
 * shows nothing if the former value contains it as well, as for a forced push to an earlier commit.
 */
async function findRecoverableChanges(
  git: Git,
  folder: string,
  changes: readonly RefChange[],
): Promise<readonly RefChange[]> {
  const current = new Map((await readReferences(git, folder, 'refs/')).map(({ ref, id }) => [ref, id]));
  const applied: RefChange[] = [];
  for (const change of changes) {
    const value = current.get(change.ref) ?? zeroId;
    const isApplied =
      value === change.after ||
      ((await isContained(git, folder, change.after, value)) &&
        !(await isContained(git, folder, change.after, change.before)));
    if (isApplied) applied.push(change);
  }
  return applied;
}

/** Returns whether a commit is in the history of another: git stores the commits of a push only if it changes the reference. */
async function isContained(git: Git, folder: string, commit: string, head: string): Promise<boolean> {
  if (commit === zeroId || head === zeroId) return false;
  // The commits of a push that was not completed do not exist.
  const args = ['merge-base', '--is-ancestor', commit, head];
  return (await git.run(folder, args, { allowedExitCodes: [1, 128] })).code === 0;
}
