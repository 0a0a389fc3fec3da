import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import type { Context } from '../../contracts/service.ts';
import type { Issue, Issues } from '../issues/issues.ts';
import type { IssueListener } from '../issues/writer.ts';
import { isPull, type Pulls } from '../pulls/pulls.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';
import { readUsers } from '../wire/read-users.ts';
import { listAccountNames } from '../issues/account-names.ts';
import { countLineComments } from '../pulls/line-comments.ts';
import { anonymousCaller } from '../sign-in/caller.ts';
import type { Tables } from '../store/tables.ts';
import { commentJson, issueJson } from '../wire/issues.ts';
import { pullJson } from '../wire/pulls.ts';
import type { HookEvent } from './events.ts';
import type { PayloadBuilder } from './payload-builder.ts';
import type { Hooks } from './hooks.ts';

const issueHookJob = defineJob(
  'git.tell-issue-hooks',
  z.object({
    repository: z.int(),
    account: z.string(),
    events: z.array(
      z.object({
        event: z.string(),
        action: z.string(),
        issue: z.int(),
        entry: z.int().optional(),
        review: z.int().optional(),
      }),
    ),
  }),
  { deleteWhenDone: true },
);
type IssueHookEvent = z.infer<(typeof issueHookJob)['schema']>['events'][number];

export interface IssueEventDependencies {
  readonly context: Pick<Context, 'accounts' | 'commit'>;
  readonly storage: Pick<RepositoryStorage, 'db' | 'find' | 'owners'>;
  readonly payloads: PayloadBuilder;
  readonly issues: Issues;
  readonly pulls: Pulls;
}

/**
 * Sends events of issues and pull requests to hooks. They are enqueued in the transaction of the change; payloads are
 * built later.
 */
export function createIssueHookEvents(context: Pick<Context, 'jobs'>, hooks: Hooks) {
  const listener: IssueListener = async (transaction, { account, events, repository }) => {
    if (!(await hooks.hasHooks(transaction, repository))) return;
    const payload = { repository: repository.id, account, events: [...events] };
    await context.jobs.enqueue(transaction, issueHookJob, payload, { orderKey: String(repository.id) });
  };
  return {
    listener,
    handle: (deps: IssueEventDependencies): Disposable =>
      context.jobs.handle(issueHookJob, async ({ id, payload: { account, events, repository: number } }) => {
        const repository = await deps.storage.find(number);
        if (repository === undefined) return;
        for (const [index, issueEvent] of events.entries()) {
          const issue = await deps.issues.findById(issueEvent.issue);
          if (issue === undefined) continue;
          const payload = await buildPayload(deps, repository, account, issue, issueEvent);
          if (payload === undefined) continue;
          const branch = issue.request === undefined ? {} : { branch: issue.request.base_branch };
          const event = { ...toHookEvent(issueEvent.event), ...branch };
          await deps.context.commit((transaction: Kysely<Tables>) =>
            hooks.emit(transaction, event, repository, payload, `issue:${id}:${index}`),
          );
        }
      }),
  };
}

/** Returns undefined if the subject of the event no longer exists. */
async function buildPayload(
  deps: IssueEventDependencies,
  repository: Repository,
  account: string,
  issue: Issue,
  { action, entry: entryId, event, review: reviewId }: IssueHookEvent,
): Promise<object | undefined> {
  const { payloads, pulls } = deps;
  const { db } = deps.storage;
  const common = await payloads.buildCommonFields(repository, account);
  const address = payloads.getAddress(repository);
  const entry =
    entryId === undefined
      ? undefined
      : await db.selectFrom('issue_entries').selectAll().where('id', '=', entryId).executeTakeFirst();
  const reviewers = (
    await db.selectFrom('review_requests').select('account').where('issue_id', '=', issue.id).execute()
  ).map((row) => row.account);
  const toUser = await readUsers(deps, { base: address.base, caller: anonymousCaller }, [
    account,
    ...listAccountNames([issue]),
    ...reviewers,
    ...(entry === undefined ? [] : [entry.author]),
  ]);
  const issueBody = issueJson(issue, repository, address, toUser);
  if (event === 'issue_comment' || event === 'pull_request_comment') {
    if (entry === undefined) return undefined;
    const comment = commentJson(entry, issue, address, toUser);
    return { action, issue: issueBody, comment, ...common, is_pull: issue.pull === 1 };
  }
  if (!isPull(issue)) return { action, number: issue.number, issue: issueBody, ...common, commit_id: '' };
  const state = await pulls.state(repository, issue);
  const headRepositoryBody =
    state.headRepository === undefined || state.headRepository.id === repository.id
      ? common.repository
      : (await payloads.buildCommonFields(state.headRepository, account)).repository;
  const pull = pullJson(issue, address, {
    state,
    toUser,
    reviewers,
    baseRepository: common.repository,
    remarks: (await countLineComments(db, [issue])).get(issue.id) ?? 0,
    headRepository: state.headRepository === undefined ? null : headRepositoryBody,
  });
  return {
    action,
    number: issue.number,
    pull_request: pull,
    requested_reviewer:
      event === 'pull_request_review_request' || reviewId !== undefined ? toUser(reviewers[0] ?? account) : null,
    ...common,
    commit_id: '',
    review: reviewId === undefined ? null : { type: event, content: entry?.body ?? '' },
  };
}

/** Maps an event to its names in the headers of a delivery. */
function toHookEvent(event: string): HookEvent {
  const review = /^pull_request_review_(approved|rejected|comment)$/.exec(event)?.[1];
  if (review !== undefined) return { name: `pull_request_${review}`, type: event };
  if (event === 'pull_request_comment') return { name: 'issue_comment', type: event };
  const family = /^(issue|pull_request)_(?:assign|label|milestone|sync|review_request)$/.exec(event)?.[1];
  if (family === undefined) return { name: event };
  return { name: family === 'issue' ? 'issues' : family, type: event };
}
