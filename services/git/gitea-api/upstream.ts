import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Git } from '../engine/git.ts';
import { MergeArea } from '../pulls/merge-area.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { readReferences } from '../repositories/references.ts';
import type { Repository } from '../repositories/repositories.ts';
import { getCommitEmail } from '../repositories/commit-email.ts';
import { getAccount, readJsonBody, ok, optional, signedInRoute, type Answer, type Call, type Route } from './call.ts';
import { changeReference } from './change-reference.ts';
import { getRepositoryName } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'pushControl' | 'features'>;

const heads = 'refs/heads/';
const upstreamBody = z.object({ branch: optional(z.string()), ff_only: optional(z.boolean()) });

/** Builds the route that merges the parent's branch into a branch of a fork. */
export function upstreamRoutes(deps: Dependencies): readonly Route[] {
  return [
    signedInRoute('POST', '/repos/:owner/:repo/merge-upstream', 'repository', (call) => mergeUpstream(deps, call)),
  ];
}

async function mergeUpstream(deps: Dependencies, call: Call): Promise<Answer> {
  const { git, manager, owners } = deps.storage;
  const { lfs } = deps.features;
  const { lookup } = deps.accessControl;
  const { protections } = deps.pushControl;
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'write');
  const parent = await getParent(deps, call, repository);
  const { branch = repository.defaultBranch, ff_only: isForwardOnly = false } = await readJsonBody(call, upstreamBody);
  const headCommit = await findCommit(deps, repository, branch);
  // The default branches correspond even if their names differ.
  const same = await findCommit(deps, parent, branch);
  const upstreamCommit =
    same ?? (branch === repository.defaultBranch ? await findCommit(deps, parent, parent.defaultBranch) : undefined);
  if (headCommit === undefined || upstreamCommit === undefined) throw buildNotFoundProblem();
  const folder = manager.getFolder(repository);
  await fetchCommit(git, folder, manager.getFolder(parent), upstreamCommit);
  if (await isWithin(git, folder, upstreamCommit, headCommit)) return ok({ merge_type: 'up-to-date' });
  const account = getAccount(call);
  await protections.checkCommit(repository.id, branch, { account });
  const isForward = await isWithin(git, folder, headCommit, upstreamCommit);
  if (!isForward && isForwardOnly) throw new Problem('git.diverged', 409, 'the branches have diverged');
  await lfs.share(parent, repository);
  const email = getCommitEmail(await owners.getForAccount(account), call.base);
  const message = `Merge branch '${branch}' of ${parent.owner}/${parent.name}`;
  const after = isForward
    ? upstreamCommit
    : await createMerge(deps, folder, [headCommit, upstreamCommit], message, { name: account, email });
  await changeReference(deps, repository, account, { ref: heads + branch, before: headCommit, after });
  return ok({ merge_type: isForward ? 'fast-forward' : 'merge' });
}

/** Returns the parent of a fork. @throws Problem (404) unless the caller may read it */
async function getParent(
  { accessControl: { access }, storage: { repositories } }: Dependencies,
  call: Call,
  { parentId }: Repository,
): Promise<Repository> {
  const parent = parentId === null ? undefined : await repositories.findById(parentId);
  if (parent === undefined || !(await access.hasLevel(call.caller, parent, 'read'))) throw buildNotFoundProblem();
  return parent;
}

async function findCommit(
  { storage: { git, manager } }: Dependencies,
  repository: Repository,
  branch: string,
): Promise<string | undefined> {
  const ref = heads + branch;
  return (await readReferences(git, manager.getFolder(repository), ref)).find((each) => each.ref === ref)?.commit;
}

/** Fetches a commit of another repository on this computer, without a reference to it. */
async function fetchCommit(git: Git, folder: string, from: string, commit: string): Promise<void> {
  const fetch = ['fetch', '--quiet', '--no-auto-gc', '--no-write-fetch-head', '--', from, commit];
  await git.run(folder, fetch, {
    longRunning: true,
    config: ['uploadpack.allowAnySHA1InWant=true'],
    environment: { GIT_ALLOW_PROTOCOL: 'file' },
  });
}

/** Returns true when the commit is part of the history of the other one. */
async function isWithin(git: Git, folder: string, commit: string, other: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', commit, other];
  return (await git.run(folder, args, { allowedExitCodes: [1] })).code === 0;
}

async function createMerge(
  { context, storage: { git } }: Dependencies,
  folder: string,
  [headCommit, upstreamCommit]: readonly [string, string],
  message: string,
  author: { readonly name: string; readonly email: string },
): Promise<string> {
  await using area = await MergeArea.open(context, git, folder);
  const result = await area.merge(headCommit, upstreamCommit);
  if (!('tree' in result)) throw new Problem('git.conflict', 409, `merge conflict: ${result.conflicts.join(', ')}`);
  const commit = await area.commit(result.tree, [headCommit, upstreamCommit], message, author);
  await area.saveTo(commit, [headCommit, upstreamCommit]);
  return commit;
}
