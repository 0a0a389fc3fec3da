import { Problem } from '../../contracts/problem.ts';
import type { Caller } from '../sign-in/caller.ts';
import { levels, type Access, type Level } from './access.ts';
import type { Repositories, Repository } from './repositories.ts';

/** Repository with the access level of the caller. */
export interface Found {
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
  async find(caller: Caller, owner: string, name: string): Promise<Found | undefined> {
    const repository = await this.#repositories.find(owner, name);
    if (repository === undefined) return undefined;
    const level = await this.#access.level(caller, repository);
    return level === 'none' ? undefined : { repository, level };
  }

  /** Finds a repository by a former name. */
  async renamed(caller: Caller, owner: string, name: string): Promise<Repository | undefined> {
    const repository = await this.#repositories.renamed(owner, name);
    return repository !== undefined && (await this.#access.may(caller, repository, 'read')) ? repository : undefined;
  }

  /**
   * Returns a repository that the caller may access at a level.
   * @throws Problem `git.unknown` (404), or the problem from `refuse` if the caller has only read access
   */
  async need(
    caller: Caller,
    [owner, name]: readonly [string, string],
    needed: Exclude<Level, 'none'>,
    refuse: () => Problem = () => forbidden(needed),
  ): Promise<Repository> {
    const found = await this.find(caller, owner, name);
    if (found === undefined) throw unknown();
    if (levels.indexOf(found.level) < levels.indexOf(needed)) throw refuse();
    return found.repository;
  }
}

export function unknown(): Problem {
  return new Problem('git.unknown', 404, 'not found');
}

/** Builds the problem with Gitea's message. */
function forbidden(needed: Exclude<Level, 'none'>): Problem {
  const detail =
    needed === 'admin'
      ? 'user should be an owner or a collaborator with admin write of a repository'
      : 'user should have a permission to write to a repo';
  return new Problem('git.forbidden', 403, detail);
}
