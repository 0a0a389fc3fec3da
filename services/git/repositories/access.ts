import type { Kysely } from 'kysely';
import type { Accounts } from '../../contracts/control/accounts.ts';
import type { OwnerRow, Tables } from '../store/tables.ts';
import { hasScope, isPublicOnly, type Caller } from '../sign-in/caller.ts';
import type { Repositories, Repository } from './repositories.ts';
import type { RepositoryVisibility } from './repository-query.ts';

/** Access levels of a repository. Each level includes the levels before it. */
export const levels = ['none', 'read', 'write', 'admin'] as const;
export type Level = (typeof levels)[number];

export interface AccessDependencies {
  readonly accounts: Pick<Accounts, 'may' | 'isStillValid'>;
  readonly db: Kysely<Tables>;
  readonly repositories: Pick<Repositories, 'listOwnerIds' | 'listSharedIds'>;
  /** Returns true if public repositories require a sign-in. The setting is live. */
  readonly requireSignIn: () => boolean;
}

/** Decides which callers may access a repository. */
export class Access {
  readonly #dependencies: AccessDependencies;

  constructor(deps: AccessDependencies) {
    this.#dependencies = deps;
  }

  /** Returns the access level of the account, limited to the scopes of its credential. */
  async getLevel(caller: Caller, repository: Repository): Promise<Level> {
    if (caller.scopes?.includes('public-only') === true && !isPublic(repository)) return 'none';
    const level = await this.#getAccountLevel(caller, repository);
    if (level !== 'read' && level !== 'none' && !hasScope(caller, 'write', 'repository')) {
      return hasScope(caller, 'read', 'repository') ? 'read' : getPublicLevel(repository);
    }
    if (level === 'read' && !hasScope(caller, 'read', 'repository')) return getPublicLevel(repository);
    return level;
  }

  async hasLevel(caller: Caller, repository: Repository, required: Exclude<Level, 'none'>): Promise<boolean> {
    return levels.indexOf(await this.getLevel(caller, repository)) >= levels.indexOf(required);
  }

  /**
   * Returns the repositories that lists contain for a caller. With `own`, only repositories of owners that the caller
   * administers, and shared ones.
   */
  async getVisibility(
    caller: Caller,
    { onlyOwn = false }: { readonly onlyOwn?: boolean } = {},
  ): Promise<RepositoryVisibility> {
    const { identity } = caller;
    const { repositories, requireSignIn } = this.#dependencies;
    if (identity === undefined) return { public: onlyOwn || requireSignIn() ? false : 'everyone', owners: [], ids: [] };
    // A token for selected or public repositories does not list the other repositories of its account.
    if (isPublicOnly(caller)) return { public: onlyOwn ? false : 'everyone', owners: [], ids: [] };
    if (identity.role === 'admin' && !onlyOwn) return 'all';
    return {
      public: onlyOwn ? false : 'accounts',
      owners: await repositories.listOwnerIds(identity.account),
      ids: await repositories.listSharedIds(identity.account),
    };
  }

  /**
   * Returns true if the caller administers an owner: it is its account, a member of the organization or an
   * administrator. Write grants for repositories of the owner are not sufficient, and neither are limited tokens.
   */
  async administersOwner(caller: Caller, owner: Pick<OwnerRow, 'id' | 'kind' | 'name'>): Promise<boolean> {
    const { identity } = caller;
    if (identity === undefined || identity.limited === true || !this.#dependencies.accounts.isStillValid(identity))
      return false;
    if (identity.role === 'admin') return true;
    if (owner.kind === 'account') return identity.account === owner.name;
    return this.isMember(identity.account, owner.id);
  }

  /** Returns true if the organization is visible to the caller: it is public, or the caller is a member. */
  async maySeeOrganization(
    caller: Caller,
    owner: Pick<OwnerRow, 'id' | 'kind' | 'name' | 'visibility'>,
  ): Promise<boolean> {
    const { identity, scopes } = caller;
    if (owner.visibility === 'public') return identity !== undefined || !this.#dependencies.requireSignIn();
    if (identity === undefined || identity.limited === true || scopes?.includes('public-only') === true) return false;
    return owner.visibility === 'limited' || this.administersOwner(caller, owner);
  }

  async isMember(account: string, organization: number): Promise<boolean> {
    const row = await this.#dependencies.db
      .selectFrom('organization_members')
      .select('account')
      .where('account', '=', account)
      .where('owner_id', '=', organization)
      .executeTakeFirst();
    return row !== undefined;
  }

  async #getAccountLevel(caller: Caller, repository: Repository): Promise<Level> {
    const { identity, deployKey } = caller;
    if (deployKey !== undefined) {
      if (deployKey.repository !== repository.id) return 'none';
      return deployKey.readOnly ? 'read' : 'write';
    }
    const { accounts, requireSignIn } = this.#dependencies;
    const resource = `${repository.owner}/${repository.name}`;
    if (identity === undefined) {
      if (isPublic(repository) && !requireSignIn()) return 'read';
      return accounts.may(undefined, 'git', 'read', resource) ? 'read' : 'none';
    }
    if (!accounts.isStillValid(identity)) return 'none';
    if (identity.role === 'admin') return 'admin';
    const isUnlimited = identity.limited !== true;
    if (isUnlimited && repository.ownerKind === 'account' && repository.owner === identity.account) return 'admin';
    if (
      isUnlimited &&
      repository.ownerKind === 'organization' &&
      (await this.isMember(identity.account, repository.ownerId))
    )
      return 'admin';
    const collaboration = isUnlimited ? await this.#findCollaboration(repository, identity.account) : undefined;
    if (collaboration !== undefined && collaboration.permission !== 'read') return collaboration.permission;
    if (accounts.may(identity, 'git', 'write', resource)) return 'write';
    if (collaboration !== undefined || accounts.may(identity, 'git', 'read', resource)) return 'read';
    const isVisible =
      isPublic(repository) || (!repository.private && repository.ownerVisibility === 'limited' && isUnlimited);
    return isVisible ? 'read' : 'none';
  }

  #findCollaboration({ id }: Repository, account: string): Promise<{ readonly permission: Level } | undefined> {
    return this.#dependencies.db
      .selectFrom('collaborators')
      .select('permission')
      .where('repository_id', '=', id)
      .where('account', '=', account)
      .executeTakeFirst();
  }
}

function getPublicLevel(repository: Repository): Level {
  return isPublic(repository) ? 'read' : 'none';
}

/** Returns true if neither the repository nor its organization is hidden. */
function isPublic(repository: Pick<Repository, 'private' | 'ownerVisibility'>): boolean {
  return !repository.private && repository.ownerVisibility === 'public';
}
