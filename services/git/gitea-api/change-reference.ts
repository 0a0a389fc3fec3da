import { Problem } from '../../contracts/problem.ts';
import { GitError } from '../engine/git.ts';
import { findUnstorableReferences } from '../repositories/reference-names.ts';
import type { Repository } from '../repositories/repositories.ts';
import { zeroId, type RefChange } from '../domain/ref-change.ts';
import type { RouteDependencies } from '../components.ts';

/**
 * Changes a reference like a push, with hooks and history, if it still has the expected value.
 *
 * @throws Problem `git.protected` (405), `git.moved`, `git.name_collides` (409), `git.archived` (423)
 */
export async function changeReference(
  {
    storage: { git, manager },
    pushControl: { pushes, tagProtections },
  }: Pick<RouteDependencies, 'storage' | 'pushControl'>,
  repository: Repository,
  account: string,
  change: RefChange,
): Promise<void> {
  const { ref, before, after } = change;
  if (repository.archived)
    throw new Problem('git.archived', 423, `repo ${repository.owner}/${repository.name} is archived`);
  await tagProtections.check(repository.id, ref, account);
  const folder = manager.getFolder(repository);
  const reason = (await findUnstorableReferences(git, folder, [change])).get(ref);
  if (reason !== undefined) throw new Problem('git.name_collides', 409, reason);
  const id = await pushes.begin(repository, account, [change]);
  try {
    const args = after === zeroId ? ['-d', ref, before] : [ref, after, before];
    await git.run(folder, ['update-ref', ...args]);
  } catch (error) {
    // Git may have changed the reference.
    if (!(error instanceof GitError)) {
      pushes.abandon(id);
      throw error;
    }
    await pushes.settle(id, repository, account, []);
    throw new Problem('git.moved', 409, `${ref} has changed in the meantime, or collides with another name.`, {
      cause: error,
    });
  }
  await pushes.settle(id, repository, account, [change]);
}
