import { z } from 'zod';
import { findOwn } from '../../../contracts/find-own.ts';
import { Problem } from '../../../contracts/problem.ts';
import { hunkAt } from '../../domain/hunks.ts';
import { Attachments } from '../../issues/attachments.ts';
import {
  addReview,
  removeReview,
  requestReviews,
  setDismissed,
  submitReview,
  type LineComment,
} from '../../pulls/reviews.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { ReviewRow, ReviewState } from '../../store/issue-tables.ts';
import { reviewCommentJson, reviewJson } from '../../wire/pulls.ts';
import {
  accountOf,
  bodyOf,
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
import { accountsNamed, mayWrite, needOpen, needWrite, peopleOf } from '../issues/issue-access.ts';
import { listHeaders, numberOf, pageOf, partOf } from '../paging.ts';
import { levelOfAccount, placeOf } from '../api-dependencies.ts';
import { pullAt, type PullPlace, type PullRestParts } from './pull-views.ts';

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

/** Reviews of pull requests, with remarks on their lines. */
export function reviewRoutes(parts: PullRestParts): readonly Route[] {
  const { pulls, writer } = parts;
  return [
    route('GET', '/repos/:owner/:repo/pulls/:index/reviews', 'repository', (call) => listReviews(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/pulls/:index/reviews', 'repository', (call) =>
      createReview(parts, call),
    ),
    route('GET', '/repos/:owner/:repo/pulls/:index/reviews/:id', 'repository', (call) => readReview(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/pulls/:index/reviews/:id', 'repository', (call) =>
      submitPendingReview(parts, call),
    ),
    signedInRoute('DELETE', '/repos/:owner/:repo/pulls/:index/reviews/:id', 'repository', (call) =>
      deleteReview(parts, call),
    ),
    route('GET', '/repos/:owner/:repo/pulls/:index/reviews/:id/comments', 'repository', (call) =>
      listReviewComments(parts, call),
    ),
    ...(['dismissals', 'undismissals'] as const).map((kind): Route =>
      signedInRoute('POST', `/repos/:owner/:repo/pulls/:index/reviews/:id/${kind}`, 'repository', async (call) => {
        const { review, ...place } = await getReview(parts, call);
        needWrite(place);
        const { message = '' } = await bodyOf(call, dismissBody);
        await writer.run(place.repository, accountOf(call), (work) =>
          setDismissed(work, review, kind === 'dismissals', message),
        );
        return reviewResponse(parts, call, place, review.id);
      }),
    ),
    ...(['POST', 'DELETE'] as const).map((method): Route =>
      signedInRoute(method, '/repos/:owner/:repo/pulls/:index/requested_reviewers', 'repository', async (call) => {
        const place = await pullAt(parts, call);
        needOpen(place.repository);
        const account = accountOf(call);
        if (!mayWrite(place.level) && place.issue.author !== account) needWrite(place);
        const names = await accountsNamed(parts, (await bodyOf(call, reviewersBody)).reviewers ?? []);
        for (const name of method === 'POST' ? names : []) {
          if ((await levelOfAccount(parts, name, place.repository)) === 'none')
            throw new Problem('git.invalid', 422, `Reviewer can't read [user: ${name}]`);
        }
        if (names.includes(place.issue.author)) throw new Problem('git.invalid', 422, "poster of pr can't be reviewer");
        await writer.run(place.repository, account, (work) =>
          requestReviews(work, place.issue, names, method === 'POST'),
        );
        if (method === 'DELETE') return noContent;
        const now = parts.context.clock.now();
        const { head } = await pulls.state(place.repository, place.issue);
        const asked = {
          id: 0,
          issue_id: place.issue.id,
          body: '',
          commit_id: head,
          dismissed: 0,
          official: 0,
          created_at: now,
          updated_at: now,
        };
        const person = await peopleOf(parts, call, names);
        const at = placeOf(call, place.repository);
        return created(
          names.map((author) =>
            reviewJson({ ...asked, author, state: 'REQUEST_REVIEW' }, place.issue, at, {
              person,
              head,
              comments: 0,
              entry: undefined,
            }),
          ),
        );
      }),
    ),
  ];
}

function parseReviewState(event: string | undefined): ReviewState {
  const state = findOwn(states, event ?? '');
  if (state === undefined) throw new Problem('git.invalid', 422, '[Event]: In');
  return state;
}

/** One that is not sent yet is there for its author alone. */
function isVisible(call: Call, review: ReviewRow): boolean {
  return review.state !== 'PENDING' || review.author === call.visitor.identity?.account;
}

async function reviewsJson(
  parts: PullRestParts,
  call: Call,
  { issue, repository }: PullPlace,
  reviews: readonly ReviewRow[],
) {
  const { db, pulls } = parts;
  const entries = await db
    .selectFrom('issue_entries')
    .select(['id', 'kind', 'review_id'])
    .where('issue_id', '=', issue.id)
    .where('review_id', 'is not', null)
    .execute();
  const { head } = await pulls.state(repository, issue);
  const person = await peopleOf(
    parts,
    call,
    reviews.map(({ author }) => author),
  );
  return reviews.map((review) => {
    const own = entries.filter(({ review_id }) => review_id === review.id);
    return reviewJson(review, issue, placeOf(call, repository), {
      ...{ person, head },
      comments: own.filter(({ kind }) => kind === 'code').length,
      entry: own.find(({ kind }) => kind === 'review')?.id,
    });
  });
}

async function getReview(parts: PullRestParts, call: Call) {
  const { db } = parts;
  const place = await pullAt(parts, call);
  const review = await db
    .selectFrom('reviews')
    .selectAll()
    .where('issue_id', '=', place.issue.id)
    .where('id', '=', numberOf(call.params['id']))
    .executeTakeFirst();
  if (review === undefined || !isVisible(call, review)) throw unknown();
  return { ...place, review };
}

async function reviewResponse(parts: PullRestParts, call: Call, place: PullPlace, id: number) {
  const { db } = parts;
  const [found] = await reviewsJson(
    parts,
    call,
    place,
    await db.selectFrom('reviews').selectAll().where('id', '=', id).execute(),
  );
  if (found === undefined) throw unknown();
  return ok(found);
}

async function toLineComments(
  { git, keeper, pulls }: PullRestParts,
  repository: Repository,
  place: PullPlace,
  asked: z.infer<typeof reviewBody>['comments'],
): Promise<readonly LineComment[]> {
  if (asked === undefined || asked.length === 0) return [];
  const { head, comparison } = await pulls.state(repository, place.issue);
  return Promise.all(
    asked.map(async ({ path, body, new_position: after = 0, old_position: before = 0 }) => {
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
        hunk: hunkAt((await git.run(keeper.folder(repository), args)).stdout.toString(), line),
      };
    }),
  );
}

async function listReviews(parts: PullRestParts, call: Call): Promise<Answer> {
  const { db } = parts;
  const place = await pullAt(parts, call);
  const all = await db.selectFrom('reviews').selectAll().where('issue_id', '=', place.issue.id).orderBy('id').execute();
  const seen = all.filter((review) => isVisible(call, review));
  const page = pageOf(call.query);
  return ok(await reviewsJson(parts, call, place, partOf(seen, page)), listHeaders(call, page, seen.length));
}

async function createReview(parts: PullRestParts, call: Call): Promise<Answer> {
  const { pulls, writer } = parts;
  const place = await pullAt(parts, call);
  const { issue, level, repository } = place;
  needOpen(repository);
  const asked = await bodyOf(call, reviewBody);
  const { head } = await pulls.state(repository, issue);
  const wanted = {
    state: parseReviewState(asked.event),
    body: asked.body ?? '',
    commit: (asked.commit_id ?? '') === '' ? head : (asked.commit_id ?? head),
    official: mayWrite(level),
    comments: await toLineComments(parts, repository, place, asked.comments),
  };
  const id = await writer.run(repository, accountOf(call), (work) => addReview(work, issue, wanted));
  return reviewResponse(parts, call, place, id);
}

async function readReview(parts: PullRestParts, call: Call): Promise<Answer> {
  const { review, ...place } = await getReview(parts, call);
  return reviewResponse(parts, call, place, review.id);
}

async function submitPendingReview(parts: PullRestParts, call: Call): Promise<Answer> {
  const { writer } = parts;
  const { review, ...place } = await getReview(parts, call);
  if (review.author !== accountOf(call) || review.state !== 'PENDING')
    throw new Problem('git.invalid', 422, 'review is not pending');
  const asked = await bodyOf(call, reviewBody);
  const state = parseReviewState(asked.event);
  if (state === 'PENDING') throw new Problem('git.invalid', 422, 'review stay pending');
  await writer.run(place.repository, review.author, (work) =>
    submitReview(work, place.issue, review.id, state, asked.body ?? ''),
  );
  return reviewResponse(parts, call, place, review.id);
}

async function deleteReview(parts: PullRestParts, call: Call): Promise<Answer> {
  const { context, writer } = parts;
  const attachments = new Attachments(context);

  const { review, level, repository } = await getReview(parts, call);
  if (review.author !== accountOf(call) && level !== 'admin')
    throw new Problem('git.forbidden', 403, 'only the reviewer or an administrator may do that');
  const files = await writer.run(repository, accountOf(call), (work) => removeReview(work, review));
  await attachments.forget(repository, files);
  return noContent;
}

async function listReviewComments(parts: PullRestParts, call: Call): Promise<Answer> {
  const { db } = parts;
  const { issue, repository, review } = await getReview(parts, call);
  const rows = await db
    .selectFrom('issue_entries')
    .selectAll()
    .where('review_id', '=', review.id)
    .where('kind', '=', 'code')
    .orderBy('id')
    .execute();
  const person = await peopleOf(
    parts,
    call,
    rows.map(({ author }) => author),
  );
  return ok(rows.map((row) => reviewCommentJson(row, issue, placeOf(call, repository), person)));
}
