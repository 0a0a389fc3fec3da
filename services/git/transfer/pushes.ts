import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import { gitPushed } from '../../contracts/git/topics.ts';
import type { Git } from '../engine/git.ts';
import { readReferences, readSize } from '../repositories/references.ts';
import type { Repositories, Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import { zeroId, type RefChange } from '../domain/ref-change.ts';
import { parseJson } from '../../contracts/parse-json.ts';

const changesSchema = z.array(z.object({ ref: z.string(), before: z.string(), after: z.string() }));
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
  readonly context: Pick<Context, 'bus' | 'clock' | 'commit' | 'db' | 'log' | 'random'>;
  readonly git: Git;
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

  constructor(deps: PushServiceDependencies) {
    this.#dependencies = deps;
  }

  /** Records a push before git changes references. Returns the ID for {@link settle}. */
  async begin(repository: Repository, account: string, changes: readonly RefChange[]): Promise<string> {
    const { clock, commit, random } = this.#dependencies.context;
    const id = random.text(20);
    await commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('pushes')
        .values({ id, repository_id: repository.id, account, commands: JSON.stringify(changes), begun_at: clock.now() })
        .execute(),
    );
    return id;
  }

  /** Applies the consequences of a push after git has finished. `changes` are the references that git changed. */
  async settle(id: string, repository: Repository, account: string, changes: readonly RefChange[]): Promise<void> {
    const { context, git, consequences, preparations } = this.#dependencies;
    const { bus, clock, commit } = context;
    if (changes.length === 0) {
      await commit((transaction: Kysely<Tables>) => transaction.deleteFrom('pushes').where('id', '=', id).execute());
      return;
    }
    const folder = this.#dependencies.folder(repository);
    const branches = repository.empty || changes.some(changesBranchList) ? await this.#branches(folder) : undefined;
    const defaultBranch = await this.#defaultBranch(repository, branches ?? [], changes);
    const push = { repository: { ...repository, defaultBranch }, account, changes, id };
    const [size, preparedConsequences] = await Promise.all([
      readSize(git, folder),
      Promise.all(preparations.map((prepare) => prepare(push))),
    ]);
    await commit(async (transaction: Kysely<Tables>) => {
      await transaction.deleteFrom('pushes').where('id', '=', id).execute();
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
    });
    bus.publish(gitPushed, { repository: repository.id });
  }

  /** Settles pushes that an ended host left unfinished. A reference with the new value counts as changed. */
  async recover(): Promise<void> {
    const { context, git, repositories } = this.#dependencies;
    const rows = await (context.db as Kysely<Tables>).selectFrom('pushes').selectAll().execute();
    for (const row of rows) {
      const repository = await repositories.findById(row.repository_id);
      if (repository === undefined) continue;
      try {
        const changes = changesSchema.parse(parseJson(row.commands));
        const applied = await findAppliedChanges(git, this.#dependencies.folder(repository), changes);
        await this.settle(row.id, repository, row.account, applied);
        context.log.info('interrupted push recovered', {
          repository: repository.id,
          made: applied.length,
        });
      } catch (error) {
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
