import { z } from 'zod';
import { findOwn } from '../../../contracts/find-own.ts';
import { Problem } from '../../../contracts/problem.ts';
import { extractHunk } from '../../domain/hunks.ts';
import { Attachments } from '../../issues/attachments.ts';
import {
  addReview,
  removeReview,
  requestReviews,
  setDismissed,
  submitReview,
  type LineComment,
} from '../../pulls/reviews.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { ReviewRow, ReviewState } from '../../store/issue-tables.ts';
import { reviewCommentJson, reviewJson } from '../../wire/pulls.ts';
import {
  getAccount,
  readJsonBody,
  created,
  noContent,
  ok,
  optional,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from '../call.ts';
import { readUsers } from '../../wire/read-users.ts';
import { resolveAccounts, mayWrite, requireNotArchived, requireWrite } from '../issues/issue-access.ts';
import { listHeaders, parseId, parsePage, getPageItems } from '../paging.ts';
import { getLevelOfAccount, getRepositoryAddress } from '../repository-requests.ts';
import { getPull, type PullContext } from './pull-views.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'collaboration'>;

const reviewBody = z.object({
  event: optional(z.string()),
  body: optional(z.string()),
  commit_id: optional(z.string()),
  comments: optional(
    z.array(
      z.object({
        path: z.string(),
        body: z.string(),
        new_position: optional(z.int()),
        old_position: optional(z.int()),
      }),
    ),
  ),
});
const dismissBody = z.object({ message: optional(z.string()), priors: optional(z.boolean()) });
const reviewersBody = z.object({ reviewers: optional(z.array(z.string())) });

const states: Readonly<Record<string, ReviewState>> = {
  '': 'PENDING',
  PENDING: 'PENDING',
  COMMENT: 'COMMENT',
  APPROVED: 'APPROVED',
  APPROVE: 'APPROVED',
  REQUEST_CHANGES: 'REQUEST_CHANGES',
};

/** Builds the routes of reviews and line comments. */
export function reviewRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/pulls/:index/reviews', 'repository', (call) => listReviews(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/pulls/:index/reviews', 'repository', (call) => createReview(deps, call)),
    route('GET', '/repos/:owner/:repo/pulls/:index/reviews/:id', 'repository', (call) => readReview(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/pulls/:index/reviews/:id', 'repository', (call) =>
      submitPendingReview(deps, call),
    ),
    signedInRoute('DELETE', '/repos/:owner/:repo/pulls/:index/reviews/:id', 'repository', (call) =>
      deleteReview(deps, call),
    ),
    route('GET', '/repos/:owner/:repo/pulls/:index/reviews/:id/comments', 'repository', (call) =>
      listReviewComments(deps, call),
    ),
    ...(['dismissals', 'undismissals'] as const).map((kind): Route =>
      signedInRoute('POST', `/repos/:owner/:repo/pulls/:index/reviews/:id/${kind}`, 'repository', (call) =>
        dismissReview(deps, call, kind === 'dismissals'),
      ),
    ),
    signedInRoute('POST', '/repos/:owner/:repo/pulls/:index/requested_reviewers', 'repository', (call) =>
      requestReviewers(deps, call),
    ),
    signedInRoute('DELETE', '/repos/:owner/:repo/pulls/:index/requested_reviewers', 'repository', (call) =>
      removeReviewers(deps, call),
    ),
  ];
}

function parseReviewState(event: string | undefined): ReviewState {
  const state = findOwn(states, event ?? '');
  if (state === undefined) throw new Problem('git.invalid', 422, '[Event]: In');
  return state;
}

/** Returns true if the caller may see the review: a pending one is visible only to its author. */
function isVisible(call: Call, review: ReviewRow): boolean {
  return review.state !== 'PENDING' || review.author === call.caller.identity?.account;
}

async function reviewsJson(
  deps: Dependencies,
  call: Call,
  { issue, repository }: PullContext,
  reviews: readonly ReviewRow[],
) {
  const { db } = deps.storage;
  const { pulls } = deps.collaboration;
  const entries = await db
    .selectFrom('issue_entries')
    .select(['id', 'kind', 'review_id'])
    .where('issue_id', '=', issue.id)
    .where('review_id', 'is not', null)
    .execute();
  const { head } = await pulls.state(repository, issue);
  const toUser = await readUsers(
    deps,
    call,
    reviews.map(({ author }) => author),
  );
  return reviews.map((review) => {
    const reviewEntries = entries.filter(({ review_id }) => review_id === review.id);
    return reviewJson(review, issue, getRepositoryAddress(call, repository), {
      toUser,
      head,
      comments: reviewEntries.filter(({ kind }) => kind === 'code').length,
      entry: reviewEntries.find(({ kind }) => kind === 'review')?.id,
    });
  });
}

async function getReview(deps: Dependencies, call: Call) {
  const { db } = deps.storage;
  const target = await getPull(deps, call);
  const review = await db
    .selectFrom('reviews')
    .selectAll()
    .where('issue_id', '=', target.issue.id)
    .where('id', '=', parseId(call.params['id']))
    .executeTakeFirst();
  if (review === undefined || !isVisible(call, review)) throw buildNotFoundProblem();
  return { ...target, review };
}

async function reviewResponse(deps: Dependencies, call: Call, target: PullContext, id: number) {
  const { db } = deps.storage;
  const [result] = await reviewsJson(
    deps,
    call,
    target,
    await db.selectFrom('reviews').selectAll().where('id', '=', id).execute(),
  );
  if (result === undefined) throw buildNotFoundProblem();
  return ok(result);
}

async function toLineComments(
  { storage: { git, manager }, collaboration: { pulls } }: Dependencies,
  repository: Repository,
  target: PullContext,
  input: z.infer<typeof reviewBody>['comments'],
): Promise<readonly LineComment[]> {
  if (input === undefined || input.length === 0) return [];
  const { head, comparison } = await pulls.state(repository, target.issue);
  return Promise.all(
    input.map(async ({ path, body, new_position: after = 0, old_position: before = 0 }) => {
      const line = after > 0 ? after : -before;
      const file = comparison.files.find((each) => each.path === path || each.from === path);
      if (file === undefined || comparison.mergeBase === undefined) return { path, body, line, hunk: '' };
      const args = [
        'diff-tree',
        '--patch',
        '-M',
        '-r',
        comparison.mergeBase,
        head,
        '--',
        ...[file.from, file.path].flatMap((each) => (each === undefined ? [] : [`:(literal)${each}`])),
      ];
      return {
        path,
        body,
        line,
        hunk: extractHunk((await git.run(manager.getFolder(repository), args)).stdout.toString(), line),
      };
    }),
  );
}

async function listReviews(deps: Dependencies, call: Call): Promise<Answer> {
  const { db } = deps.storage;
  const target = await getPull(deps, call);
  const all = await db
    .selectFrom('reviews')
    .selectAll()
    .where('issue_id', '=', target.issue.id)
    .orderBy('id')
    .execute();
  const visible = all.filter((review) => isVisible(call, review));
  const page = parsePage(call.query);
  return ok(
    await reviewsJson(deps, call, target, getPageItems(visible, page)),
    listHeaders(call, page, visible.length),
  );
}

async function createReview(deps: Dependencies, call: Call): Promise<Answer> {
  const { pulls, writer } = deps.collaboration;
  const target = await getPull(deps, call);
  const { issue, level, repository } = target;
  requireNotArchived(repository);
  const input = await readJsonBody(call, reviewBody);
  const { head } = await pulls.state(repository, issue);
  const newReview = {
    state: parseReviewState(input.event),
    body: input.body ?? '',
    commit: (input.commit_id ?? '') === '' ? head : (input.commit_id ?? head),
    official: mayWrite(level),
    comments: await toLineComments(deps, repository, target, input.comments),
  };
  const id = await writer.run(repository, getAccount(call), (work) => addReview(work, issue, newReview));
  return reviewResponse(deps, call, target, id);
}

async function readReview(deps: Dependencies, call: Call): Promise<Answer> {
  const { review, ...target } = await getReview(deps, call);
  return reviewResponse(deps, call, target, review.id);
}

async function submitPendingReview(deps: Dependencies, call: Call): Promise<Answer> {
  const { writer } = deps.collaboration;
  const { review, ...target } = await getReview(deps, call);
  if (review.author !== getAccount(call) || review.state !== 'PENDING')
    throw new Problem('git.invalid', 422, 'review is not pending');
  const input = await readJsonBody(call, reviewBody);
  const state = parseReviewState(input.event);
  if (state === 'PENDING') throw new Problem('git.invalid', 422, 'review stay pending');
  await writer.run(target.repository, review.author, (work) =>
    submitReview(work, target.issue, review.id, state, input.body ?? ''),
  );
  return reviewResponse(deps, call, target, review.id);
}

async function deleteReview(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { writer } = deps.collaboration;
  const attachments = new Attachments(context);

  const { review, level, repository } = await getReview(deps, call);
  if (review.author !== getAccount(call) && level !== 'admin')
    throw new Problem('git.forbidden', 403, 'only the reviewer or an administrator may do that');
  const files = await writer.run(repository, getAccount(call), (work) => removeReview(work, review));
  await attachments.deleteFiles(repository, files);
  return noContent;
}

/** Dismisses a review, or restores a dismissed one. */
async function dismissReview(deps: Dependencies, call: Call, isDismissed: boolean): Promise<Answer> {
  const { review, ...target } = await getReview(deps, call);
  requireWrite(target);
  const { message = '' } = await readJsonBody(call, dismissBody);
  await deps.collaboration.writer.run(target.repository, getAccount(call), (work) =>
    setDismissed(work, review, isDismissed, message),
  );
  return reviewResponse(deps, call, target, review.id);
}

async function requestReviewers(deps: Dependencies, call: Call): Promise<Answer> {
  const { target, names } = await readReviewers(deps, call);
  for (const name of names) {
    if ((await getLevelOfAccount(deps.accessControl, name, target.repository)) === 'none')
      throw new Problem('git.invalid', 422, `Reviewer can't read [user: ${name}]`);
  }
  await saveReviewers(deps, call, target, names, true);
  return created(await reviewRequestsJson(deps, call, target, names));
}

async function removeReviewers(deps: Dependencies, call: Call): Promise<Answer> {
  const { target, names } = await readReviewers(deps, call);
  await saveReviewers(deps, call, target, names, false);
  return noContent;
}

/** Returns the pull request and the accounts of a request. @throws Problem (403) unless the caller may change them */
async function readReviewers(
  deps: Dependencies,
  call: Call,
): Promise<{ readonly target: PullContext; readonly names: readonly string[] }> {
  const target = await getPull(deps, call);
  requireNotArchived(target.repository);
  if (!mayWrite(target.level) && target.issue.author !== getAccount(call)) requireWrite(target);
  const names = await resolveAccounts(deps, (await readJsonBody(call, reviewersBody)).reviewers ?? []);
  return { target, names };
}

async function saveReviewers(
  { collaboration: { writer } }: Dependencies,
  call: Call,
  { repository, issue }: PullContext,
  names: readonly string[],
  isRequested: boolean,
): Promise<void> {
  if (names.includes(issue.author)) throw new Problem('git.invalid', 422, "poster of pr can't be reviewer");
  await writer.run(repository, getAccount(call), (work) => requestReviews(work, issue, names, isRequested));
}

/** Converts requested reviews to JSON: reviews without an ID and with the state `REQUEST_REVIEW`. */
async function reviewRequestsJson(
  deps: Dependencies,
  call: Call,
  { repository, issue }: PullContext,
  names: readonly string[],
) {
  const now = deps.context.clock.now();
  const { head } = await deps.collaboration.pulls.state(repository, issue);
  const fields = {
    id: 0,
    issue_id: issue.id,
    body: '',
    commit_id: head,
    dismissed: 0,
    official: 0,
    created_at: now,
    updated_at: now,
    state: 'REQUEST_REVIEW',
  } as const;
  const toUser = await readUsers(deps, call, names);
  const address = getRepositoryAddress(call, repository);
  return names.map((author) =>
    reviewJson({ ...fields, author }, issue, address, { toUser, head, comments: 0, entry: undefined }),
  );
}

async function listReviewComments(deps: Dependencies, call: Call): Promise<Answer> {
  const { db } = deps.storage;
  const { issue, repository, review } = await getReview(deps, call);
  const rows = await db
    .selectFrom('issue_entries')
    .selectAll()
    .where('review_id', '=', review.id)
    .where('kind', '=', 'code')
    .orderBy('id')
    .execute();
  const toUser = await readUsers(
    deps,
    call,
    rows.map(({ author }) => author),
  );
  return ok(rows.map((row) => reviewCommentJson(row, issue, getRepositoryAddress(call, repository), toUser)));
}
