import type { Kysely } from 'kysely';
import type { Git } from '../engine/git.ts';
import type { Tables } from '../store/tables.ts';
import type { Objects } from './objects.ts';
import type { Owners } from './owners.ts';
import type { Repositories, Repository } from './repositories.ts';
import type { RepositoriesFolder } from './repositories-folder.ts';
import type { RepositoryLocks } from './repository-locks.ts';
import type { RepositoryManager } from './repository-manager.ts';

/** Repositories in the tables and on disk. */
export interface RepositoryStorage {
  readonly db: Kysely<Tables>;
  readonly git: Git;
  readonly objects: Objects;
  readonly repositories: Repositories;
  readonly owners: Owners;
  readonly manager: RepositoryManager;
  readonly repositoriesFolder: RepositoriesFolder;
  readonly locks: RepositoryLocks;
  readonly folder: (repository: Pick<Repository, 'folder'>) => string;
  readonly find: (id: number) => Promise<Repository | undefined>;
}
