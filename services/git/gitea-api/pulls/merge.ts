import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import { mergeStyles } from '../../pulls/merge.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Author } from '../../repositories/first-commit.ts';
import { noObject } from '../../transfer/push-request.ts';
import { emailOf } from '../../wire/users.ts';
import { accountOf, bodyOf, noContent, route, signedInRoute, type Answer, type Call, type Route } from '../call.ts';
import { changeReference } from '../change-reference.ts';
import { needWrite } from '../issues/issue-access.ts';
import { pullAt, type PullPlace, type PullRestParts } from './pull-views.ts';

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

/** Merging pull requests, and bringing them up to date. */
export function mergeRoutes(parts: PullRestParts): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/pulls/:index/merge', 'repository', (call) => checkMerged(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/pulls/:index/merge', 'repository', (call) => mergePull(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/pulls/:index/update', 'repository', (call) => updatePull(parts, call)),
  ];
}

async function getAuthor(
  { context, owners }: PullRestParts,
  call: Pick<Call, 'base'>,
  account: string,
): Promise<Author> {
  const known = (await context.accounts.find(account)) !== undefined;
  return {
    name: account,
    email: known
      ? emailOf(await owners.ofAccount(account), call.base)
      : `${account}@noreply.${new URL(call.base).hostname}`,
  };
}

/** The branch of another repository goes after the merge, where the caller may do that. */
async function deleteForkBranch(parts: PullRestParts, call: Call, { issue, repository }: PullPlace): Promise<void> {
  const { access, pulls } = parts;
  const { head, headRepository, hasHead } = await pulls.state(repository, issue);
  if (headRepository === undefined || headRepository.id === repository.id || !hasHead) return;
  if (issue.request.head_branch === headRepository.defaultBranch) return;
  if (!(await access.may(call.visitor, headRepository, 'write'))) return;
  if ((await parts.protections.of(headRepository.id, issue.request.head_branch)) !== undefined) return;
  await changeReference(parts, headRepository, accountOf(call), {
    ref: `refs/heads/${issue.request.head_branch}`,
    before: head,
    after: noObject,
  });
}

async function checkMerged(parts: PullRestParts, call: Call): Promise<Answer> {
  const { issue } = await pullAt(parts, call);
  if (issue.request.merged_commit === null) throw unknown();
  return noContent;
}

async function mergePull(parts: PullRestParts, call: Call): Promise<Answer> {
  const { merges } = parts;
  const place = await pullAt(parts, call);
  needWrite(place);
  const { issue, level, repository } = place;
  const asked = await bodyOf(call, mergeBody);
  const wanted = asked.Do ?? asked.do ?? '';
  if (wanted === '') throw new Problem('git.invalid', 422, '[Do]: Required');
  if (wanted === 'manually-merged')
    throw new Problem('git.style', 405, 'manually-merged is not an allowed merge style for this repository');
  const style = mergeStyles.find((each) => each === wanted);
  if (style === undefined) throw new Problem('git.invalid', 422, '[Do]: In');
  const account = accountOf(call);
  const deleteBranch =
    asked.delete_branch_after_merge ?? repository.options['default_delete_branch_after_merge'] === true;
  await merges.merge(repository, issue.number, {
    style,
    account,
    committer: await getAuthor(parts, call, account),
    author: await getAuthor(parts, call, issue.author),
    title: asked.MergeTitleField ?? asked.merge_title_field ?? undefined,
    message: asked.MergeMessageField ?? asked.merge_message_field ?? undefined,
    head: asked.head_commit_id ?? undefined,
    force: asked.force_merge === true && level === 'admin',
    deleteBranch,
  });
  if (deleteBranch) await deleteForkBranch(parts, call, place);
  return { status: 200 };
}

async function updatePull(parts: PullRestParts, call: Call): Promise<Answer> {
  const { access, merges, pulls } = parts;
  const { issue, repository } = await pullAt(parts, call);
  const style = call.query.get('style') === 'rebase' ? 'rebase' : 'merge';
  const { headRepository } = await pulls.state(repository, issue);
  if (headRepository === undefined) throw unknown();
  if (!(await access.may(call.visitor, headRepository, 'write')))
    throw new Problem('git.forbidden', 403, 'This account may not write to the branch.');
  const account = accountOf(call);
  await merges.update(repository, issue.number, style, { account, committer: await getAuthor(parts, call, account) });
  return { status: 200 };
}
