import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';
import type { Protections } from '../protection/protections.ts';
import type { TagProtections } from '../protection/tag-protections.ts';
import type { Access, Level } from '../repositories/access.ts';
import type { Collaborators } from '../repositories/collaborators.ts';
import type { Forks } from '../repositories/forks.ts';
import type { Keeper } from '../repositories/repository-manager.ts';
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
import type { Visitor } from '../sign-in/visitor.ts';
import type { OwnerRow, Tables } from '../store/tables.ts';
import type { Pushes } from '../transfer/pushes.ts';
import type { Place } from '../wire/commits.ts';
import { repositoryJson } from '../wire/repositories.ts';
import type { Owners } from '../repositories/owners.ts';
import type { Call } from './call.ts';

/** What the routes of the API stand on. */
export interface RestParts {
  readonly context: Context;
  readonly settings: Settings;
  readonly git: Git;
  readonly objects: Objects;
  readonly repositories: Repositories;
  readonly owners: Owners;
  readonly keeper: Keeper;
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
  /** What SSH addresses begin with, for a client that came by this address. */
  readonly ssh: (base: string) => string;
}

export function placeOf({ base }: Pick<Call, 'base'>, { owner, name }: Repository): Place {
  return { base, full: `${owner}/${name}` };
}

/** The owner's and the repository's name in a call's path. */
export function named({ params }: Pick<Call, 'params'>): readonly [string, string] {
  return [params['owner'] ?? '', params['repo'] ?? ''];
}

/** A repository as the peer shows it to who calls. */
export async function shown(
  { access, owners, repositories, ssh }: Pick<RestParts, 'access' | 'owners' | 'repositories' | 'ssh'>,
  { base, visitor }: Pick<Call, 'base' | 'visitor'>,
  repository: Repository,
  level: Level,
) {
  const links = { base, ssh: ssh(base) };
  const json = repositoryJson(repository, await owners.byId(repository.ownerId), level, links);
  const parent = repository.parent === null ? undefined : await repositories.byId(repository.parent);
  const parentLevel = parent === undefined ? 'none' : await access.level(visitor, parent);
  // Where it comes from is shown to who may see that.
  if (parent === undefined || parentLevel === 'none') return json;
  return { ...json, parent: repositoryJson(parent, await owners.byId(parent.ownerId), parentLevel, links) };
}

/** What an account may do with a repository when it comes with its password; `none` for one that is not there. */
export async function levelOfAccount(
  { access, signIn }: Pick<RestParts, 'access' | 'signIn'>,
  name: string,
  repository: Repository,
): Promise<Level> {
  const identity = await signIn.account(name);
  return identity === undefined ? 'none' : access.level({ identity, scopes: undefined, inAddress: false }, repository);
}

/** An owner that the caller may know of: an account, or an organization that is not hidden from the caller. */
export async function visibleOwner(
  { access, owners }: Pick<RestParts, 'access' | 'owners'>,
  visitor: Visitor,
  name: string,
): Promise<OwnerRow | undefined> {
  const row = await owners.find(name);
  if (row?.kind !== 'organization') return row;
  return (await access.seesOrganization(visitor, row)) ? row : undefined;
}

export type Db = Kysely<Tables>;
