import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import { mergeStyles } from '../../pulls/merge.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Author } from '../../repositories/first-commit.ts';
import { zeroId } from '../../domain/ref-change.ts';
import { getCommitEmail } from '../../repositories/commit-email.ts';
import {
  getAccount,
  readJsonBody,
  noContent,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from '../call.ts';
import { changeReference } from '../change-reference.ts';
import { requireWrite } from '../issues/issue-access.ts';
import { getPull, type PullContext } from './pull-views.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<
  RouteDependencies,
  'context' | 'settings' | 'storage' | 'accessControl' | 'pushControl' | 'collaboration'
>;

const text = z.string().nullish();
const mergeBody = z.looseObject({
  Do: text,
  do: text,
  MergeTitleField: text,
  merge_title_field: text,
  MergeMessageField: text,
  merge_message_field: text,
  head_commit_id: text,
  delete_branch_after_merge: z.boolean().nullish(),
  force_merge: z.boolean().nullish(),
});

/** Builds the routes that merge and update pull requests. */
export function mergeRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/pulls/:index/merge', 'repository', (call) => checkMerged(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/pulls/:index/merge', 'repository', (call) => mergePull(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/pulls/:index/update', 'repository', (call) => updatePull(deps, call)),
  ];
}

async function getAuthor(
  { context, storage: { owners } }: Dependencies,
  call: Pick<Call, 'base'>,
  account: string,
): Promise<Author> {
  const isExisting = (await context.accounts.find(account)) !== undefined;
  return {
    name: account,
    email: isExisting
      ? getCommitEmail(await owners.getForAccount(account), call.base)
      : `${account}@noreply.${new URL(call.base).hostname}`,
  };
}

/** Deletes the head branch in a fork after the merge, if the caller may write to it. */
async function deleteForkBranch(deps: Dependencies, call: Call, { issue, repository }: PullContext): Promise<void> {
  const { access } = deps.accessControl;
  const { pulls } = deps.collaboration;
  const { head, headRepository, hasHead } = await pulls.state(repository, issue);
  if (headRepository === undefined || headRepository.id === repository.id || !hasHead) return;
  if (issue.request.head_branch === headRepository.defaultBranch) return;
  if (!(await access.hasLevel(call.caller, headRepository, 'write'))) return;
  if ((await deps.pushControl.protections.findRule(headRepository.id, issue.request.head_branch)) !== undefined) return;
  await changeReference(deps, headRepository, getAccount(call), {
    ref: `refs/heads/${issue.request.head_branch}`,
    before: head,
    after: zeroId,
  });
}

async function checkMerged(deps: Dependencies, call: Call): Promise<Answer> {
  const { issue } = await getPull(deps, call);
  if (issue.request.merged_commit === null) throw buildNotFoundProblem();
  return noContent;
}

async function mergePull(deps: Dependencies, call: Call): Promise<Answer> {
  const { merges } = deps.collaboration;
  const target = await getPull(deps, call);
  requireWrite(target);
  const { issue, level, repository } = target;
  const input = await readJsonBody(call, mergeBody);
  const requestedStyle = input.Do ?? input.do ?? '';
  if (requestedStyle === '') throw new Problem('git.invalid', 422, '[Do]: Required');
  if (requestedStyle === 'manually-merged')
    throw new Problem('git.style', 405, 'manually-merged is not an allowed merge style for this repository');
  const style = mergeStyles.find((each) => each === requestedStyle);
  if (style === undefined) throw new Problem('git.invalid', 422, '[Do]: In');
  const account = getAccount(call);
  const deleteBranch =
    input.delete_branch_after_merge ?? repository.options['default_delete_branch_after_merge'] === true;
  await merges.merge(repository, issue.number, {
    style,
    account,
    committer: await getAuthor(deps, call, account),
    author: await getAuthor(deps, call, issue.author),
    title: input.MergeTitleField ?? input.merge_title_field ?? undefined,
    message: input.MergeMessageField ?? input.merge_message_field ?? undefined,
    head: input.head_commit_id ?? undefined,
    force: input.force_merge === true && level === 'admin',
    deleteBranch,
  });
  if (deleteBranch) await deleteForkBranch(deps, call, target);
  return { status: 200 };
}

async function updatePull(deps: Dependencies, call: Call): Promise<Answer> {
  const { access } = deps.accessControl;
  const { merges, pulls } = deps.collaboration;
  const { issue, repository } = await getPull(deps, call);
  const style = call.query.get('style') === 'rebase' ? 'rebase' : 'merge';
  const { headRepository } = await pulls.state(repository, issue);
  if (headRepository === undefined) throw buildNotFoundProblem();
  if (!(await access.hasLevel(call.caller, headRepository, 'write')))
    throw new Problem('git.forbidden', 403, 'This account cannot write to the branch.');
  const account = getAccount(call);
  await merges.update(repository, issue.number, style, { account, committer: await getAuthor(deps, call, account) });
  return { status: 200 };
}
