import type { Context } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';
import type { Protections } from '../protection/protections.ts';
import type { TagProtections } from '../protection/tag-protections.ts';
import type { Access, Level } from '../repositories/access.ts';
import type { Collaborators } from '../repositories/collaborators.ts';
import type { Forks } from '../repositories/forks.ts';
import type { RepositoryManager } from '../repositories/repository-manager.ts';
import type { Lookup } from '../repositories/lookup.ts';
import type { Objects } from '../repositories/objects.ts';
import type { Organizations } from '../repositories/organizations.ts';
import type { Releases } from '../releases/releases.ts';
import type { Repositories, Repository } from '../repositories/repositories.ts';
import type { Settings } from '../settings.ts';
import type { Keys } from '../ssh/keys.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import type { Tokens } from '../sign-in/tokens.ts';
import type { Statuses } from '../statuses/statuses.ts';
import type { Caller } from '../sign-in/caller.ts';
import type { OwnerRow } from '../store/tables.ts';
import type { Pushes } from '../transfer/pushes.ts';
import type { RepositoryAddress } from '../wire/commits.ts';
import { repositoryJson } from '../wire/repositories.ts';
import type { Owners } from '../repositories/owners.ts';
import type { Call } from './call.ts';

/** Dependencies of the routes of Gitea's API. */
export interface ApiDependencies {
  readonly context: Context;
  readonly settings: Settings;
  readonly git: Git;
  readonly objects: Objects;
  readonly repositories: Repositories;
  readonly owners: Owners;
  readonly manager: RepositoryManager;
  readonly access: Access;
  readonly lookup: Lookup;
  readonly pushes: Pushes;
  readonly protections: Protections;
  readonly tagProtections: TagProtections;
  readonly collaborators: Collaborators;
  readonly organizations: Organizations;
  readonly forks: Forks;
  readonly releases: Releases;
  readonly statuses: Statuses;
  readonly tokens: Tokens;
  readonly keys: Keys;
  readonly signIn: SignIn;
  /** Returns the base of SSH URLs for a client that connected through this address. */
  readonly ssh: (base: string) => string;
}

export function getRepositoryAddress({ base }: Pick<Call, 'base'>, { owner, name }: Repository): RepositoryAddress {
  return { base, full: `${owner}/${name}` };
}

/** Returns the owner and the name of the repository in the path. */
export function getRepositoryName({ params }: Pick<Call, 'params'>): readonly [string, string] {
  return [params['owner'] ?? '', params['repo'] ?? ''];
}

/** Converts a repository to JSON as the caller may see it. */
export async function toRepositoryView(
  { access, owners, repositories, ssh }: Pick<ApiDependencies, 'access' | 'owners' | 'repositories' | 'ssh'>,
  { base, caller }: Pick<Call, 'base' | 'caller'>,
  repository: Repository,
  level: Level,
) {
  const links = { base, ssh: ssh(base) };
  const json = repositoryJson(repository, await owners.getById(repository.ownerId), level, links);
  const parent = repository.parentId === null ? undefined : await repositories.findById(repository.parentId);
  const parentLevel = parent === undefined ? 'none' : await access.getLevel(caller, parent);
  // The parent is included only when the caller may read it.
  if (parent === undefined || parentLevel === 'none') return json;
  return { ...json, parent: repositoryJson(parent, await owners.getById(parent.ownerId), parentLevel, links) };
}

/** Returns the access level of an account that signs in with its password; `none` for an unknown account. */
export async function getLevelOfAccount(
  { access, signIn }: Pick<ApiDependencies, 'access' | 'signIn'>,
  name: string,
  repository: Repository,
): Promise<Level> {
  const identity = await signIn.account(name);
  return identity === undefined
    ? 'none'
    : access.getLevel({ identity, scopes: undefined, inAddress: false }, repository);
}

/** Returns an owner that is visible to the caller: an account or an organization. */
export async function visibleOwner(
  { access, owners }: Pick<ApiDependencies, 'access' | 'owners'>,
  caller: Caller,
  name: string,
): Promise<OwnerRow | undefined> {
  const row = await owners.find(name);
  if (row?.kind !== 'organization') return row;
  return (await access.maySeeOrganization(caller, row)) ? row : undefined;
}
