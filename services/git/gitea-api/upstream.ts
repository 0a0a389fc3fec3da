import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { MergeArea } from '../pulls/merge-area.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { readReferences } from '../repositories/references.ts';
import type { Repository } from '../repositories/repositories.ts';
import { getCommitEmail } from '../wire/users.ts';
import { getAccount, readJsonBody, ok, optional, type Answer, type Call, type Route } from './call.ts';
import { changeReference } from './change-reference.ts';
import type { ContentDependencies } from './contents.ts';
import { getRepositoryName } from './api-dependencies.ts';

const heads = 'refs/heads/';
const upstreamBody = z.object({ branch: optional(z.string()), ff_only: optional(z.boolean()) });

/** Builds the route that merges the parent's branch into a branch of a fork. */
export function upstreamRoutes(deps: ContentDependencies): readonly Route[] {
  const { access, context, git, manager, lfs, lookup, owners, protections, repositories } = deps;
  const findCommit = async (repository: Repository, branch: string): Promise<string | undefined> => {
    const ref = heads + branch;
    return (await readReferences(git, manager.getFolder(repository), ref)).find((each) => each.ref === ref)?.commit;
  };
  const getParent = async (call: Call, { parentId: parent }: Repository): Promise<Repository> => {
    const parentRepository = parent === null ? undefined : await repositories.findById(parent);
    if (parentRepository === undefined || !(await access.hasLevel(call.caller, parentRepository, 'read')))
      throw buildNotFoundProblem();
    return parentRepository;
  };
  const isWithin = async (folder: string, commit: string, other: string): Promise<boolean> =>
    (await git.run(folder, ['merge-base', '--is-ancestor', commit, other], { allowedExitCodes: [1] })).code === 0;

  return [
    {
      method: 'POST',
      path: '/repos/:owner/:repo/merge-upstream',
      scope: 'repository',
      signedIn: true,
      handle: mergeUpstream,
    },
  ];

  async function mergeUpstream(call: Call): Promise<Answer> {
    const repository = await lookup.require(call.caller, getRepositoryName(call), 'write');
    const parent = await getParent(call, repository);
    const { branch = repository.defaultBranch, ff_only: isForwardOnly = false } = await readJsonBody(
      call,
      upstreamBody,
    );
    const ours = await findCommit(repository, branch);
    // The default branches correspond even if their names differ.
    const same = await findCommit(parent, branch);
    const theirs =
      same ?? (branch === repository.defaultBranch ? await findCommit(parent, parent.defaultBranch) : undefined);
    if (ours === undefined || theirs === undefined) throw buildNotFoundProblem();
    const folder = manager.getFolder(repository);
    const fetch = [
      'fetch',
      '--quiet',
      '--no-auto-gc',
      '--no-write-fetch-head',
      '--',
      manager.getFolder(parent),
      theirs,
    ];
    await git.run(folder, fetch, {
      longRunning: true,
      config: ['uploadpack.allowAnySHA1InWant=true'],
      environment: { GIT_ALLOW_PROTOCOL: 'file' },
    });
    if (await isWithin(folder, theirs, ours)) return ok({ merge_type: 'up-to-date' });
    const account = getAccount(call);
    await protections.checkCommit(repository.id, branch, { account });
    const isForward = await isWithin(folder, ours, theirs);
    if (!isForward && isForwardOnly) throw new Problem('git.diverged', 409, 'the branches have diverged');
    await lfs.share(parent, repository);
    const email = getCommitEmail(await owners.getForAccount(account), call.base);
    const message = `Merge branch '${branch}' of ${parent.owner}/${parent.name}`;
    const after = isForward ? theirs : await createMerge(folder, [ours, theirs], message, { name: account, email });
    await changeReference(deps, repository, account, { ref: heads + branch, before: ours, after });
    return ok({ merge_type: isForward ? 'fast-forward' : 'merge' });
  }

  async function createMerge(
    folder: string,
    [ours, theirs]: readonly [string, string],
    message: string,
    author: { readonly name: string; readonly email: string },
  ): Promise<string> {
    await using area = await MergeArea.open(context, git, folder);
    const result = await area.merge(ours, theirs);
    if (!('tree' in result)) throw new Problem('git.conflict', 409, `merge conflict: ${result.conflicts.join(', ')}`);
    const commit = await area.commit(result.tree, [ours, theirs], message, author);
    await area.saveTo(commit, [ours, theirs]);
    return commit;
  }
}
