import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import { gitPushed } from '../../contracts/git/topics.ts';
import type { Git } from '../engine/git.ts';
import { readReferences, readSize } from '../repositories/references.ts';
import type { Repositories, Repository } from '../repositories/repositories.ts';
import type { RepositoryLocks } from '../repositories/repository-locks.ts';
import type { Tables } from '../store/tables.ts';
import { zeroId, type RefChange } from '../domain/ref-change.ts';

const heads = 'refs/heads/';

/** Work that must be done in the transaction that records a push. */
export type PushConsequence = (
  transaction: Kysely<Tables>,
  push: {
    readonly repository: Repository;
    readonly account: string;
    readonly changes: readonly RefChange[];
    /** Identifies the push. It stays the same when recording is retried. */
    readonly id: string;
  },
) => Promise<void>;

/** Reads the data that a consequence needs from git before the transaction. */
export type PushPreparation = (push: Parameters<PushConsequence>[1]) => Promise<PushConsequence>;

export interface PushServiceDependencies {
  readonly context: Pick<Context, 'bus' | 'clock' | 'commit' | 'db' | 'leases' | 'log' | 'random'>;
  readonly git: Git;
  readonly locks: RepositoryLocks;
  readonly repositories: Repositories;
  readonly folder: (repository: Repository) => string;
  readonly consequences: readonly PushConsequence[];
  readonly preparations: readonly PushPreparation[];
}

/**
 * Keeps the tables consistent with the references. Each push is recorded before git changes references, so that its
 * consequences are applied even if the host is killed in between.
 */
export class Pushes {
  readonly #dependencies: PushServiceDependencies;
  /** Pushes that this host is receiving or recording. */
  readonly #current = new Set<string>();

  constructor(deps: PushServiceDependencies) {
    this.#dependencies = deps;
  }

  /** Ids of the pushes that this host is receiving or recording. */
  get current(): ReadonlySet<string> {
    return this.#current;
  }

  /** Records a push before git changes references. Returns the ID for {@link settle}. */
  async begin(repository: Repository, account: string, changes: readonly RefChange[]): Promise<string> {
    const { clock, commit, leases, random } = this.#dependencies.context;
    const id = random.text(20);
    this.#current.add(id);
    const commands = JSON.stringify(changes);
    const row = { id, repository_id: repository.id, account, commands, begun_at: clock.now(), host_id: leases.hostId };
    try {
      await commit((transaction: Kysely<Tables>) => transaction.insertInto('pushes').values(row).execute());
    } catch (error) {
      this.#current.delete(id);
      throw error;
    }
    return id;
  }

  /** Leaves a push to {@link PushRecovery}, because it is not known which references git changed. */
  abandon(id: string): void {
    this.#current.delete(id);
  }

  /** Applies the consequences of a push after git has finished. `changes` are the references that git changed. */
  async settle(
    id: string,
    repository: Pick<Repository, 'id'>,
    account: string,
    changes: readonly RefChange[],
  ): Promise<void> {
    const { context, locks } = this.#dependencies;
    try {
      if (changes.length === 0) {
        await context.commit((transaction: Kysely<Tables>) =>
          transaction.deleteFrom('pushes').where('id', '=', id).execute(),
        );
        return;
      }
      // Pushes are recorded one after another, so that a later one is not overwritten with the state before it.
      await locks.run('record', repository.id, () => this.#record(id, repository.id, account, changes));
    } finally {
      this.#current.delete(id);
    }
  }

  async #record(id: string, repositoryId: number, account: string, changes: readonly RefChange[]): Promise<void> {
    const { context, git, consequences, preparations, repositories } = this.#dependencies;
    const { bus, clock, commit } = context;
    // Another push may have changed the row since the request began. Without a row, the push has none either.
    const repository = await repositories.findById(repositoryId);
    if (repository === undefined) return;
    const folder = this.#dependencies.folder(repository);
    const branches = repository.empty || changes.some(changesBranchList) ? await this.#branches(folder) : undefined;
    const defaultBranch = await this.#defaultBranch(repository, branches ?? [], changes);
    const push = { repository: { ...repository, defaultBranch }, account, changes, id };
    const [size, preparedConsequences] = await Promise.all([
      readSize(git, folder),
      Promise.all(preparations.map((prepare) => prepare(push))),
    ]);
    const isRecorded = await commit(async (transaction: Kysely<Tables>) => {
      const { numDeletedRows } = await transaction.deleteFrom('pushes').where('id', '=', id).executeTakeFirst();
      // Another host has recorded the push because this one seemed to have ended, or the repository was deleted.
      if (numDeletedRows === 0n) return false;
      await transaction
        .updateTable('repositories')
        .set({
          ...(branches === undefined
            ? {}
            : { empty: Number(branches.length === 0 && repository.empty), branch_count: branches.length }),
          ...(defaultBranch === repository.defaultBranch ? {} : { default_branch: defaultBranch }),
          size,
          updated_at: clock.now(),
          pushed_at: clock.now(),
        })
        .where('id', '=', repository.id)
        .execute();
      for (const consequence of [...consequences, ...preparedConsequences]) await consequence(transaction, push);
      return true;
    });
    if (isRecorded) bus.publish(gitPushed, { repository: repository.id });
  }

  async #branches(folder: string): Promise<readonly string[]> {
    return (await readReferences(this.#dependencies.git, folder, heads)).map(({ ref }) => ref.slice(heads.length));
  }

  /** Returns the first pushed branch if the repository was empty and has no default branch. */
  async #defaultBranch(
    repository: Repository,
    branches: readonly string[],
    changes: readonly RefChange[],
  ): Promise<string> {
    const { defaultBranch } = repository;
    if (branches.length === 0 || branches.includes(defaultBranch) || !repository.empty) return defaultBranch;
    const push = changes
      .flatMap(({ ref }) => (ref.startsWith(heads) ? [ref.slice(heads.length)] : []))
      .find((name) => branches.includes(name));
    if (push === undefined) return defaultBranch;
    const { git, folder } = this.#dependencies;
    await git.run(folder(repository), ['symbolic-ref', 'HEAD', `${heads}${push}`]);
    return push;
  }
}

function changesBranchList({ ref, before, after }: RefChange): boolean {
  return ref.startsWith(heads) && (before === zeroId || after === zeroId);
}

/** Returns the changes whose reference now has the new value. */
export async function findAppliedChanges(
  git: Git,
  folder: string,
  changes: readonly RefChange[],
): Promise<readonly RefChange[]> {
  const current = new Map((await readReferences(git, folder, 'refs/')).map(({ ref, id }) => [ref, id]));
  return changes.filter(({ ref, after }) => (current.get(ref) ?? zeroId) === after);
}
