import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';
import type { OwnerRow, Tables } from '../store/tables.ts';
import type { RepositoryManager } from './repository-manager.ts';
import { readSize } from './references.ts';
import type { Repositories, Repository } from './repositories.ts';

/** Storage of large files, which a fork shares with its parent. */
interface SharedFiles {
  share(parent: Repository, fork: Repository): Promise<void>;
}

/** Forks and stars of repositories. */
export class Forks {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;
  readonly #dependencies: {
    readonly git: Git;
    readonly manager: RepositoryManager;
    readonly lfs: SharedFiles;
    readonly repositories: Repositories;
  };

  constructor(
    context: Pick<Context, 'clock' | 'commit' | 'db'>,
    deps: {
      readonly git: Git;
      readonly manager: RepositoryManager;
      readonly lfs: SharedFiles;
      readonly repositories: Repositories;
    },
  ) {
    this.#context = context;
    this.#db = context.db;
    this.#dependencies = deps;
  }

  /**
   * Creates a fork. It is hidden until it is complete.
   * @throws Problem `git.name_taken` (409)
   */
  async create(parent: Repository, owner: Pick<OwnerRow, 'kind' | 'name'>, name: string): Promise<Repository> {
    const { git, manager, lfs, repositories } = this.#dependencies;
    const { description, defaultBranch, branchCount, empty, website } = parent;
    // A fork must not make content of a hidden organization public.
    const isPrivate = parent.private || parent.ownerVisibility !== 'public';
    const options = {
      owner: owner.name,
      ownerKind: owner.kind,
      name,
      private: isPrivate,
      defaultBranch,
      description,
      website,
    };
    const fork = await manager.create(options, async (folder) => {
      const refs = ['heads', 'tags'].map((kind) => `+refs/${kind}/*:refs/${kind}/*`);
      const args = [
        'fetch',
        '--quiet',
        '--no-auto-gc',
        '--no-write-fetch-head',
        '--',
        manager.getFolder(parent),
        ...refs,
      ];
      await git.run(folder, args, { longRunning: true });
      return { branch_count: branchCount, empty: Number(empty), size: await readSize(git, folder) };
    });
    await lfs.share(parent, fork);
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.insertInto('forks').values({ repository_id: fork.id, parent_id: parent.id }).execute(),
    );
    return (await repositories.findById(fork.id)) ?? fork;
  }

  /** Lists the IDs of the forks of a repository. */
  async listForkIds(parent: number): Promise<readonly number[]> {
    const rows = await this.#db.selectFrom('forks').select('repository_id').where('parent_id', '=', parent).execute();
    return rows.map(({ repository_id }) => repository_id);
  }

  async star(repository: number, account: string): Promise<void> {
    const { clock, commit } = this.#context;
    await commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('stars')
        .values({ repository_id: repository, account, created_at: clock.now() })
        .onConflict((conflict) => conflict.columns(['repository_id', 'account']).doNothing())
        .execute(),
    );
  }

  async unstar(repository: number, account: string): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('stars').where('repository_id', '=', repository).where('account', '=', account).execute(),
    );
  }

  async listStarred(account: string): Promise<readonly number[]> {
    const rows = await this.#db.selectFrom('stars').select('repository_id').where('account', '=', account).execute();
    return rows.map(({ repository_id }) => repository_id);
  }

  async listStargazers(repository: number): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('stars')
      .select('account')
      .where('repository_id', '=', repository)
      .orderBy('created_at')
      .execute();
    return rows.map(({ account }) => account);
  }
}
