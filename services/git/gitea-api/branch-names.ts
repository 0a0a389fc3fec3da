import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { isNewBranchName } from '../domain/names.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { readReferences } from '../repositories/references.ts';
import type { Repository } from '../repositories/repositories.ts';
import { zeroId } from '../domain/ref-change.ts';
import {
  getAccount,
  readJsonBody,
  noContent,
  required,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { changeReference } from './change-reference.ts';
import { getRepositoryName } from './repository-requests.ts';
import type { Db } from '../store/tables.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'pushControl'>;

const heads = 'refs/heads/';

/** Builds the route that renames a branch and updates the pull requests from and into it. */
export function branchNameRoutes(deps: Dependencies): readonly Route[] {
  return [
    signedInRoute('PATCH', '/repos/:owner/:repo/branches/*branch', 'repository', (call) => renameBranch(deps, call)),
  ];
}

async function renameBranch(deps: Dependencies, call: Call): Promise<Answer> {
  const { git, manager } = deps.storage;
  const { lookup } = deps.accessControl;
  const { protections } = deps.pushControl;
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'write');
  const { name } = await readJsonBody(call, z.object({ name: required }));
  const old = call.params['branch'] ?? '';
  const folder = manager.getFolder(repository);
  const all = await readReferences(git, folder, heads);
  const commit = all.find(({ ref }) => ref === heads + old)?.id;
  if (commit === undefined) throw buildNotFoundProblem();
  if (!isNewBranchName(name)) throw new Problem('git.invalid', 422, '[Name]: GitRefName');
  if (name === old) throw new Problem('git.invalid', 422, 'Cannot rename a branch to its own name.');
  const isDefault = old === repository.defaultBranch;
  // A new default branch changes every later clone.
  if (isDefault) await lookup.require(call.caller, getRepositoryName(call), 'admin');
  if (all.some(({ ref }) => ref === heads + name))
    throw new Problem(
      'git.invalid',
      422,
      'Cannot rename a branch using the same name or rename to a branch that already exists.',
    );
  const account = getAccount(call);
  await protections.checkRemoval(repository.id, old);
  await protections.checkCommit(repository.id, name, { account });
  // Both branches exist for a moment, so that pull requests keep a branch when the host is killed in between.
  await changeReference(deps, repository, account, { ref: heads + name, before: zeroId, after: commit });
  await saveBranchName(deps, repository, { old, name });
  if (isDefault) await git.run(folder, ['symbolic-ref', 'HEAD', heads + name]);
  await changeReference(deps, { ...repository, defaultBranch: isDefault ? name : repository.defaultBranch }, account, {
    ref: heads + old,
    before: commit,
    after: zeroId,
  });
  return noContent;
}

/** Saves the new name of a branch in its pull requests that are not merged, and as the default branch. */
async function saveBranchName(
  { context }: Pick<RouteDependencies, 'context'>,
  repository: Repository,
  { old, name }: { readonly old: string; readonly name: string },
): Promise<void> {
  await context.commit(async (transaction: Db) => {
    const ownIssues = transaction.selectFrom('issues').select('id').where('repository_id', '=', repository.id);
    await transaction
      .updateTable('pulls')
      .set({ base_branch: name })
      .where('base_branch', '=', old)
      .where('issue_id', 'in', ownIssues)
      .where('merged_commit', 'is', null)
      .execute();
    await transaction
      .updateTable('pulls')
      .set({ head_branch: name })
      .where('head_branch', '=', old)
      .where('head_repository_id', '=', repository.id)
      .where('merged_commit', 'is', null)
      .execute();
    if (old === repository.defaultBranch)
      await transaction
        .updateTable('repositories')
        .set({ default_branch: name })
        .where('id', '=', repository.id)
        .execute();
  });
}
