import { validateRepositoryName } from '../domain/names.ts';
import type { Settings } from '../settings.ts';
import type { Caller } from '../sign-in/caller.ts';
import type { Access } from './access.ts';
import type { Owners } from './owners.ts';
import type { Repository } from './repositories.ts';
import type { RepositoryManager } from './repository-manager.ts';

export interface CreateOnPushDependencies {
  readonly settings: Pick<Settings, 'createOnPush' | 'defaultBranch'>;
  readonly access: Access;
  readonly owners: Owners;
  readonly manager: RepositoryManager;
}

/** Creates a private repository for a push to a missing one; undefined when that is disabled or not allowed. */
export async function createOnPush(
  { settings, access, owners, manager }: CreateOnPushDependencies,
  caller: Caller,
  owner: string,
  name: string,
): Promise<Repository | undefined> {
  if (!settings.createOnPush || validateRepositoryName(name) !== undefined) return undefined;
  const ownerRow = await owners.find(owner);
  if (ownerRow === undefined || !(await access.administersOwner(caller, ownerRow))) return undefined;
  return manager.create({
    owner: ownerRow.name,
    ownerKind: ownerRow.kind,
    name,
    private: true,
    defaultBranch: settings.defaultBranch,
  });
}
