import { Problem } from '../../contracts/problem.ts';
import type { Caller } from '../sign-in/caller.ts';
import { levels, type Access, type Level } from './access.ts';
import type { Repositories, Repository } from './repositories.ts';

/** Repository with the access level of the caller. */
export interface RepositoryAccess {
  readonly repository: Repository;
  readonly level: Level;
}

/** Finds repositories for a caller. Repositories without read access are reported as not found. */
export class Lookup {
  readonly #repositories: Repositories;
  readonly #access: Access;

  constructor(repositories: Repositories, access: Access) {
    this.#repositories = repositories;
    this.#access = access;
  }

  /** Returns undefined if there is no repository that the caller may read. */
  async find(caller: Caller, owner: string, name: string): Promise<RepositoryAccess | undefined> {
    const repository = await this.#repositories.find(owner, name);
    if (repository === undefined) return undefined;
    const level = await this.#access.getLevel(caller, repository);
    return level === 'none' ? undefined : { repository, level };
  }

  /** Finds a repository by a former name. */
  async findRenamed(caller: Caller, owner: string, name: string): Promise<Repository | undefined> {
    const repository = await this.#repositories.findRenamed(owner, name);
    return repository !== undefined && (await this.#access.hasLevel(caller, repository, 'read'))
      ? repository
      : undefined;
  }

  /**
   * Returns a repository that the caller may access at a level.
   * @throws Problem `git.unknown` (404), or the problem from `refuse` if the caller has only read access
   */
  async require(
    caller: Caller,
    [owner, name]: readonly [string, string],
    level: Exclude<Level, 'none'>,
    buildProblem: () => Problem = () => buildForbiddenProblem(level),
  ): Promise<Repository> {
    const access = await this.find(caller, owner, name);
    if (access === undefined) throw buildNotFoundProblem();
    if (levels.indexOf(access.level) < levels.indexOf(level)) throw buildProblem();
    return access.repository;
  }
}

export function buildNotFoundProblem(): Problem {
  return new Problem('git.unknown', 404, 'not found');
}

/** Builds the problem with Gitea's message. */
function buildForbiddenProblem(level: Exclude<Level, 'none'>): Problem {
  const detail =
    level === 'admin'
      ? 'user should be an owner or a collaborator with admin write of a repository'
      : 'user should have a permission to write to a repo';
  return new Problem('git.forbidden', 403, detail);
}
