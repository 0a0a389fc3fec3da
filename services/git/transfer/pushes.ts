import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import { gitPushed } from '../../contracts/git/topics.ts';
import type { Git } from '../engine/git.ts';
import { readReferences, sizeOf } from '../repositories/references.ts';
import type { Repositories, Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import { noObject, type RefChange } from './push-request.ts';

const changesSchema = z.array(z.object({ ref: z.string(), before: z.string(), after: z.string() }));
const heads = 'refs/heads/';

/** Work that must be done in the transaction that records a push. */
export type PushConsequence = (
  transaction: Kysely<Tables>,
  pushed: {
    readonly repository: Repository;
    readonly account: string;
    readonly changes: readonly RefChange[];
    /** Identifies the push. It stays the same when recording is retried. */
    readonly id: string;
  },
) => Promise<void>;

/** Reads the data that a consequence needs from git before the transaction. */
export type PushPreparation = (pushed: Parameters<PushConsequence>[1]) => Promise<PushConsequence>;

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
    const branches = repository.empty || changes.some(addsOrRemoves) ? await this.#branches(folder) : undefined;
    const defaultBranch = await this.#defaultBranch(repository, branches ?? [], changes);
    const pushed = { repository: { ...repository, defaultBranch }, account, changes, id };
    const [size, prepared] = await Promise.all([
      sizeOf(git, folder),
      Promise.all(preparations.map((prepare) => prepare(pushed))),
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
      for (const consequence of [...consequences, ...prepared]) await consequence(transaction, pushed);
    });
    bus.publish(gitPushed, { repository: repository.id });
  }

  /** Settles pushes that an ended host left unfinished. A reference with the new value counts as changed. */
  async recover(): Promise<void> {
    const { context, git, repositories } = this.#dependencies;
    const left = await (context.db as Kysely<Tables>).selectFrom('pushes').selectAll().execute();
    for (const row of left) {
      const repository = await repositories.byId(row.repository_id);
      if (repository === undefined) continue;
      try {
        const changes = changesSchema.parse(JSON.parse(row.commands));
        const made = await changesMade(git, this.#dependencies.folder(repository), changes);
        await this.settle(row.id, repository, row.account, made);
        context.log.info('interrupted push recovered', {
          repository: repository.id,
          made: made.length,
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
    const pushed = changes
      .flatMap(({ ref }) => (ref.startsWith(heads) ? [ref.slice(heads.length)] : []))
      .find((name) => branches.includes(name));
    if (pushed === undefined) return defaultBranch;
    const { git, folder } = this.#dependencies;
    await git.run(folder(repository), ['symbolic-ref', 'HEAD', `${heads}${pushed}`]);
    return pushed;
  }
}

function addsOrRemoves({ ref, before, after }: RefChange): boolean {
  return ref.startsWith(heads) && (before === noObject || after === noObject);
}

/** Returns the changes whose reference now has the new value. */
export async function changesMade(
  git: Git,
  folder: string,
  changes: readonly RefChange[],
): Promise<readonly RefChange[]> {
  const now = new Map((await readReferences(git, folder, 'refs/')).map(({ ref, id }) => [ref, id]));
  return changes.filter(({ ref, after }) => (now.get(ref) ?? noObject) === after);
}
