import type { Level } from '../repositories/access.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Caller } from '../sign-in/caller.ts';
import type { OwnerRow } from '../store/tables.ts';
import type { RepositoryAddress } from '../wire/commits.ts';
import { getSshBase } from '../ssh/base-url.ts';
import { repositoryJson } from '../wire/repositories.ts';
import type { Call } from './call.ts';
import type { AccessControl, RouteDependencies } from '../components.ts';

export function getRepositoryAddress({ base }: Pick<Call, 'base'>, { owner, name }: Repository): RepositoryAddress {
  return { base, full: `${owner}/${name}` };
}

/** Returns the owner and the name of the repository in the path. */
export function getRepositoryName({ params }: Pick<Call, 'params'>): readonly [string, string] {
  return [params['owner'] ?? '', params['repo'] ?? ''];
}

/** Converts a repository to JSON as the caller may see it. */
export async function toRepositoryView(
  {
    context,
    settings,
    accessControl: { access },
    storage: { owners, repositories },
  }: Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl'>,
  { base, caller }: Pick<Call, 'base' | 'caller'>,
  repository: Repository,
  level: Level,
) {
  const links = { base, ssh: getSshBase(context, settings, base) };
  const json = repositoryJson(repository, await owners.getById(repository.ownerId), level, links);
  const parent = repository.parentId === null ? undefined : await repositories.findById(repository.parentId);
  const parentLevel = parent === undefined ? 'none' : await access.getLevel(caller, parent);
  // The parent is included only when the caller may read it.
  if (parent === undefined || parentLevel === 'none') return json;
  return { ...json, parent: repositoryJson(parent, await owners.getById(parent.ownerId), parentLevel, links) };
}

/** Returns the access level of an account that signs in with its password; `none` for an unknown account. */
export async function getLevelOfAccount(
  { access, signIn }: Pick<AccessControl, 'access' | 'signIn'>,
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
  { accessControl: { access }, storage: { owners } }: Pick<RouteDependencies, 'storage' | 'accessControl'>,
  caller: Caller,
  name: string,
): Promise<OwnerRow | undefined> {
  const row = await owners.find(name);
  if (row?.kind !== 'organization') return row;
  return (await access.maySeeOrganization(caller, row)) ? row : undefined;
}
