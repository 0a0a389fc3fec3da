import { GiteaProblem } from '../domain/page-problem.ts';
import * as m from '#messages/git-problems';
import { Problem } from '../../contracts/problem.ts';
import { countComments } from '../issues/changes.ts';
import type { Issue } from '../issues/issues.ts';
import { addEntry, notifyParticipants, recordText, touch, type IssueWork } from '../issues/writer.ts';
import type { AttachmentRow } from '../store/issue-relations.ts';
import type { ReviewRow, ReviewState } from '../store/issue-tables.ts';

/** Review comment on a line of the diff. */
export interface LineComment {
  readonly path: string;
  readonly body: string;
  /** Line of the new file; negative for the old file; 0 for the file itself. */
  readonly line: number;
  /** Diff lines before the commented line. */
  readonly hunk: string;
}

export interface NewReview {
  readonly state: ReviewState;
  readonly body: string;
  /** Reviewed commit. */
  readonly commit: string;
  /** The review counts for required approvals. */
  readonly official: boolean;
  readonly comments: readonly LineComment[];
}

/**
 * Adds a review and returns its ID.
 * @throws Problem (422)
 */
export async function addReview(work: IssueWork, issue: Issue, input: NewReview): Promise<number> {
  const { account, db, now } = work;
  checkState(issue, account, input.state);
  const pendingReview = await db
    .selectFrom('reviews')
    .select('id')
    .where('issue_id', '=', issue.id)
    .where('author', '=', account)
    .where('state', '=', 'PENDING')
    .executeTakeFirst();
  if (pendingReview !== undefined && input.state === 'PENDING' && input.comments.length === 0) return pendingReview.id;
  const { id } =
    pendingReview ??
    (await db
      .insertInto('reviews')
      .values({
        issue_id: issue.id,
        author: account,
        state: 'PENDING',
        body: input.body,
        commit_id: input.commit,
        dismissed: 0,
        official: Number(input.official),
        created_at: now,
        updated_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow());
  for (const { body, hunk, line, path } of input.comments) {
    await addEntry(work, issue.id, 'code', { body, review: id, path, line, hunk, commit: input.commit });
  }
  if (input.state !== 'PENDING') await submitReview(work, issue, id, input.state, input.body);
  return id;
}

/**
 * Publishes a pending review.
 * @throws Problem (422)
 */
export async function submitReview(
  work: IssueWork,
  issue: Issue,
  id: number,
  state: Exclude<ReviewState, 'PENDING'>,
  body: string,
): Promise<void> {
  const { account, db, now } = work;
  checkState(issue, account, state);
  const lineComments = await db
    .selectFrom('issue_entries')
    .selectAll()
    .where('review_id', '=', id)
    .where('kind', '=', 'code')
    .execute();
  if (body.trim() === '' && lineComments.length === 0 && state !== 'APPROVED') {
    throw new GiteaProblem('git.invalid', 422, 'body is empty', m.reviewEmpty());
  }
  if (state !== 'COMMENT') {
    // Only the latest review of an account counts.
    await db
      .updateTable('reviews')
      .set({ official: 0 })
      .where('issue_id', '=', issue.id)
      .where('author', '=', account)
      .where('id', '!=', id)
      .execute();
    await db.deleteFrom('review_requests').where('issue_id', '=', issue.id).where('account', '=', account).execute();
  }
  await db.updateTable('reviews').set({ state, body, updated_at: now }).where('id', '=', id).execute();
  const entry = await addEntry(work, issue.id, 'review', { body, review: id });
  await countComments(work, issue.id);
  await recordText(work, issue.id, [body, ...lineComments.map((line) => line.body)].join('\n'));
  await touch(work, issue.id);
  await notifyParticipants(work, issue.id, entry);
  const event = {
    APPROVED: 'pull_request_review_approved',
    REQUEST_CHANGES: 'pull_request_review_rejected',
    COMMENT: 'pull_request_review_comment',
  }[state];
  work.events.push({ event, action: 'reviewed', issue: issue.id, entry, review: id });
}

/** Deletes a review and returns the rows of its files, which the caller must delete. */
export async function removeReview(work: IssueWork, review: ReviewRow): Promise<readonly AttachmentRow[]> {
  const { db } = work;
  const entries = db.selectFrom('issue_entries').select('id').where('review_id', '=', review.id);
  const files = await db.deleteFrom('issue_attachments').where('entry_id', 'in', entries).returningAll().execute();
  await db.deleteFrom('issue_reactions').where('entry_id', 'in', entries).execute();
  await db.deleteFrom('issue_entries').where('review_id', '=', review.id).execute();
  await db.deleteFrom('reviews').where('id', '=', review.id).execute();
  await countComments(work, review.issue_id);
  await recordText(work, review.issue_id, '');
  return files;
}

export async function setDismissed(
  work: IssueWork,
  review: ReviewRow,
  dismissed: boolean,
  reason: string,
): Promise<void> {
  await work.db
    .updateTable('reviews')
    .set({ dismissed: Number(dismissed) })
    .where('id', '=', review.id)
    .execute();
  if (dismissed) await addEntry(work, review.issue_id, 'dismiss_review', { body: reason, review: review.id });
}

/** Adds or removes review requests. */
export async function requestReviews(
  work: IssueWork,
  issue: Issue,
  accounts: readonly string[],
  isRequested: boolean,
): Promise<void> {
  const { db } = work;
  for (const account of accounts) {
    const existing = await db
      .selectFrom('review_requests')
      .select('account')
      .where('issue_id', '=', issue.id)
      .where('account', '=', account)
      .executeTakeFirst();
    if ((existing !== undefined) === isRequested) continue;
    if (isRequested) await db.insertInto('review_requests').values({ issue_id: issue.id, account }).execute();
    else
      await db.deleteFrom('review_requests').where('issue_id', '=', issue.id).where('account', '=', account).execute();
    await addEntry(work, issue.id, 'review_request', { assignee: account, ...(isRequested ? {} : { removed: true }) });
    const action = isRequested ? 'review_requested' : 'review_request_removed';
    work.events.push({ event: 'pull_request_review_request', action, issue: issue.id });
  }
  await touch(work, issue.id);
  await notifyParticipants(work, issue.id);
}

/**
 * Rejects a verdict on the author's own pull request.
 * @throws Problem (422)
 */
function checkState({ author }: Issue, account: string, state: ReviewState): void {
  if (author !== account) return;
  if (state === 'APPROVED') throw new Problem('git.own_pull', 422, 'approve your own pull is not allowed');
  if (state === 'REQUEST_CHANGES') throw new Problem('git.own_pull', 422, 'reject your own pull is not allowed');
}
