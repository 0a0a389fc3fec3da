import type { Kysely } from 'kysely';
import type { Accounts } from '../../contracts/control/accounts.ts';
import type { Tables } from '../store/tables.ts';
import { hasScope, type Visitor } from '../sign-in/visitor.ts';
import type { Repository } from './repositories.ts';

/** How far somebody may go with a repository; each holds those before it. */
export const levels = ['none', 'read', 'write', 'admin'] as const;
export type Level = (typeof levels)[number];

export interface AccessParts {
  readonly accounts: Pick<Accounts, 'may' | 'stands'>;
  readonly db: Kysely<Tables>;
  /** Public repositories are for accounts alone. */
  readonly requireSignIn: boolean;
}

/** Decides who may do what with a repository. */
export class Access {
  readonly #parts: AccessParts;

  constructor(parts: AccessParts) {
    this.#parts = parts;
  }

  /** What the account may do, and no more than its credential is good for. */
  async level(visitor: Visitor, repository: Repository): Promise<Level> {
    if (visitor.scopes?.includes('public-only') === true && repository.private) return 'none';
    const level = await this.#account(visitor, repository);
    if (level !== 'read' && level !== 'none' && !hasScope(visitor, 'write', 'repository')) {
      return hasScope(visitor, 'read', 'repository') ? 'read' : publicLevel(repository);
    }
    if (level === 'read' && !hasScope(visitor, 'read', 'repository')) return publicLevel(repository);
    return level;
  }

  async may(visitor: Visitor, repository: Repository, needed: Exclude<Level, 'none'>): Promise<boolean> {
    return levels.indexOf(await this.level(visitor, repository)) >= levels.indexOf(needed);
  }

  /** Whether somebody may make repositories and change things under an owner's name. */
  async ownsName(visitor: Visitor, owner: string): Promise<boolean> {
    const { identity } = visitor;
    if (identity === undefined || !this.#parts.accounts.stands(identity)) return false;
    if (identity.role === 'admin') return true;
    const isItself = identity.limited !== true;
    if (isItself && identity.account.toLowerCase() === owner.toLowerCase()) return true;
    if (isItself && (await this.#isMember(identity.account, owner))) return true;
    return this.#parts.accounts.may(identity, 'git', 'write', `${owner}/*`);
  }

  async #isMember(account: string, organization: string): Promise<boolean> {
    const row = await this.#parts.db
      .selectFrom('organization_members')
      .innerJoin('owners', 'owners.id', 'organization_members.owner_id')
      .select('account')
      .where('account', '=', account)
      .where('owners.lower_name', '=', organization.toLowerCase())
      .executeTakeFirst();
    return row !== undefined;
  }

  async #account(visitor: Visitor, repository: Repository): Promise<Level> {
    const { identity, deployKey } = visitor;
    if (deployKey !== undefined) {
      if (deployKey.repository !== repository.id) return 'none';
      return deployKey.readOnly ? 'read' : 'write';
    }
    const { accounts, requireSignIn } = this.#parts;
    const resource = `${repository.owner}/${repository.name}`;
    if (identity === undefined) {
      if (!repository.private && !requireSignIn) return 'read';
      return accounts.may(undefined, 'git', 'read', resource) ? 'read' : 'none';
    }
    if (!accounts.stands(identity)) return 'none';
    if (identity.role === 'admin') return 'admin';
    const isItself = identity.limited !== true;
    if (isItself && repository.ownerKind === 'account' && repository.owner === identity.account) return 'admin';
    if (isItself && repository.ownerKind === 'organization' && (await this.#isMember(identity.account, repository.owner))) return 'admin'; // prettier-ignore
    const given = isItself ? await this.#collaboration(repository, identity.account) : undefined;
    if (given !== undefined && given.permission !== 'read') return given.permission;
    if (accounts.may(identity, 'git', 'write', resource)) return 'write';
    if (given !== undefined || !repository.private || accounts.may(identity, 'git', 'read', resource)) return 'read';
    return 'none';
  }

  #collaboration({ id }: Repository, account: string): Promise<{ readonly permission: Level } | undefined> {
    return this.#parts.db
      .selectFrom('collaborators')
      .select('permission')
      .where('repository_id', '=', id)
      .where('account', '=', account)
      .executeTakeFirst();
  }
}

function publicLevel(repository: Repository): Level {
  return repository.private ? 'none' : 'read';
}
