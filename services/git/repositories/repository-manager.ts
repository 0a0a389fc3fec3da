import * as m from '#messages/git-problems';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely, Updateable } from 'kysely';
import { moveFolder, removeTree } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';
import { removeRepositoryBlobs } from './repository-blobs.ts';
import type { OwnerRow, Tables } from '../store/tables.ts';
import type { RepositoriesFolder } from './repositories-folder.ts';
import { getRelativeFolder } from './repository-folders.ts';
import type { Repositories, Repository } from './repositories.ts';

/** Properties of a new repository. */
export interface NewRepository {
  readonly owner: string;
  /** Kind of `owner`. Default: account. */
  readonly ownerKind?: OwnerRow['kind'];
  readonly name: string;
  readonly private: boolean;
  readonly defaultBranch: string;
  readonly description?: string;
  readonly website?: string;
  readonly originalUrl?: string;
  readonly template?: boolean;
}

/** Changed columns of a repository's row. */
export type RepositoryChange = Updateable<
  Pick<
    Tables['repositories'],
    | 'description'
    | 'website'
    | 'topics'
    | 'options'
    | 'private'
    | 'archived'
    | 'template'
    | 'default_branch'
    | 'branch_count'
    | 'empty'
    | 'size'
  >
>;

/** Creates, renames and removes repositories with their folders and rows. */
export class RepositoryManager {
  readonly #context: Pick<Context, 'accounts' | 'blobs' | 'clock' | 'commit' | 'leases' | 'log' | 'random'>;
  readonly #git: Git;
  readonly #repositories: Repositories;
  readonly #repositoriesFolder: Pick<RepositoriesFolder, 'ensure' | 'path'>;

  constructor(
    context: Pick<Context, 'accounts' | 'blobs' | 'clock' | 'commit' | 'leases' | 'log' | 'random'>,
    git: Git,
    repositories: Repositories,
    repositoriesFolder: Pick<RepositoriesFolder, 'ensure' | 'path'>,
  ) {
    this.#context = context;
    this.#git = git;
    this.#repositories = repositories;
    this.#repositoriesFolder = repositoriesFolder;
  }

  /** Returns the folder of a repository. */
  getFolder({ folder }: Pick<Repository, 'folder'>): string {
    return join(this.#repositoriesFolder.path, getRelativeFolder(folder));
  }

  /**
   * Creates a repository. `fill` adds objects to the new folder while the repository is still hidden and returns the
   * changed columns. If it fails, the repository is removed.
   * @throws Problem `git.name_taken` (409)
   */
  async create(options: NewRepository, fill?: (folder: string) => Promise<RepositoryChange>): Promise<Repository> {
    const { accounts, clock, commit, leases, random } = this.#context;
    await this.#repositoriesFolder.ensure();
    const account = await accounts.find(options.owner);
    const folder = random.text(20).toLowerCase();
    const path = this.getFolder({ folder });
    const now = clock.now();
    // The folder is created before the row, because a row without a folder cannot be read.
    await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
    await this.#git.run(undefined, [
      'init',
      '--bare',
      '--quiet',
      '--template=',
      `--initial-branch=${options.defaultBranch}`,
      '--',
      path,
    ]);
    try {
      const id = await commit(async (transaction: Kysely<Tables>) => {
        const owner =
          options.ownerKind === 'organization'
            ? await this.#repositories.getOrganization(transaction, options.owner)
            : await this.#repositories.ensureOwner(
                transaction,
                account?.name ?? options.owner,
                account?.createdAt ?? now,
              );
        return insertRepository(transaction, owner.id, options, {
          folder,
          now,
          fillingHost: fill === undefined ? null : leases.hostId,
        });
      });
      if (fill !== undefined) await this.#fill(id, path, fill);
      const repository = await this.#repositories.findById(id);
      if (repository === undefined) throw new Problem('git.gone', 409, m.repositoryGone());
      return repository;
    } catch (error) {
      await this.#removeFolder(path);
      throw error;
    }
  }

  async change(id: number, change: RepositoryChange): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .updateTable('repositories')
        .set({ ...change, updated_at: this.#context.clock.now() })
        .where('id', '=', id)
        .execute(),
    );
  }

  /**
   * Renames or transfers a repository. Its former address redirects to the new one.
   * @throws Problem `git.name_taken` (409)
   */
  async rename(
    repository: Repository,
    target: { readonly owner?: Pick<OwnerRow, 'id'>; readonly name: string },
  ): Promise<void> {
    const { clock, commit } = this.#context;
    const now = clock.now();
    await commit(async (transaction: Kysely<Tables>) => {
      const owner = target.owner ?? { id: repository.ownerId };
      const lowerName = target.name.toLowerCase();
      const existing = await transaction
        .selectFrom('repositories')
        .select('id')
        .where('owner_id', '=', owner.id)
        .where('lower_name', '=', lowerName)
        .where('id', '!=', repository.id)
        .executeTakeFirst();
      if (existing !== undefined) throw buildNameTakenProblem();
      await transaction
        .deleteFrom('former_names')
        .where('owner_id', '=', owner.id)
        .where('lower_name', '=', lowerName)
        .execute();
      await transaction
        .insertInto('former_names')
        .values({
          owner_id: repository.ownerId,
          lower_name: repository.name.toLowerCase(),
          repository_id: repository.id,
        })
        .onConflict((conflict) =>
          conflict.columns(['owner_id', 'lower_name']).doUpdateSet({ repository_id: repository.id }),
        )
        .execute();
      // A change of case does not leave a former name.
      await transaction
        .deleteFrom('former_names')
        .where('owner_id', '=', owner.id)
        .where('lower_name', '=', lowerName)
        .execute();
      await transaction
        .updateTable('repositories')
        .set({ owner_id: owner.id, name: target.name, lower_name: lowerName, updated_at: now })
        .where('id', '=', repository.id)
        .execute();
    });
  }

  /** @throws Problem (503) if the folder with the repositories is not available. */
  async remove(repository: Repository): Promise<void> {
    await this.#repositoriesFolder.ensure({ now: true });
    await this.#removeRow(repository.id);
    await this.#removeFolder(this.getFolder(repository));
    await removeRepositoryBlobs(this.#context, repository.folder);
  }

  async #fill(id: number, path: string, fill: (folder: string) => Promise<RepositoryChange>): Promise<void> {
    try {
      const change = await fill(path);
      await this.#context.commit((transaction: Kysely<Tables>) =>
        transaction
          .updateTable('repositories')
          .set({ ...change, filling: 0, filling_host: null })
          .where('id', '=', id)
          .execute(),
      );
    } catch (error) {
      await this.#removeRow(id);
      throw error;
    }
  }

  async #removeRow(id: number): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('repositories').where('id', '=', id).execute(),
    );
  }

  /** Renames the folder before it is removed, so that a partially removed repository is never found. */
  async #removeFolder(path: string): Promise<void> {
    const removedPath = `${path}.removed`;
    try {
      await moveFolder(path, removedPath);
      await removeTree(removedPath);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
      // The cleanup of stale repositories tries again.
      this.#context.log.warn('repository folder could not be removed', { error });
    }
  }
}

/** Inserts the row of a new repository and removes a redirect with its name. */
async function insertRepository(
  transaction: Kysely<Tables>,
  ownerId: number,
  options: NewRepository,
  { folder, now, fillingHost }: { readonly folder: string; readonly now: number; readonly fillingHost: string | null },
): Promise<number> {
  const row = await transaction
    .insertInto('repositories')
    .values({
      owner_id: ownerId,
      name: options.name,
      lower_name: options.name.toLowerCase(),
      folder,
      description: options.description ?? '',
      website: options.website ?? '',
      original_url: options.originalUrl ?? '',
      topics: '[]',
      options: '{}',
      private: Number(options.private),
      archived: 0,
      template: Number(options.template ?? false),
      empty: 1,
      filling: Number(fillingHost !== null),
      filling_host: fillingHost,
      default_branch: options.defaultBranch,
      branch_count: 0,
      size: 0,
      created_at: now,
      updated_at: now,
      pushed_at: null,
    })
    .onConflict((conflict) => conflict.columns(['owner_id', 'lower_name']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw buildNameTakenProblem();
  await transaction
    .deleteFrom('former_names')
    .where('owner_id', '=', ownerId)
    .where('lower_name', '=', options.name.toLowerCase())
    .execute();
  return row.id;
}

function buildNameTakenProblem(): Problem {
  return new Problem('git.name_taken', 409, 'The repository with the same name already exists.');
}
