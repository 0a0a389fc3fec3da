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
import { accountOf, bodyOf, created, noContent, ok, optional, type Call, type Route } from '../call.ts';
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
  const { context, db, git, keeper, pulls, writer } = parts;
  const attachments = new Attachments(context);

  const stateOf = (event: string | undefined): ReviewState => {
    const state = findOwn(states, event ?? '');
    if (state === undefined) throw new Problem('git.invalid', 422, '[Event]: In');
    return state;
  };
  /** One that is not sent yet is there for its author alone. */
  const isVisible = (call: Call, review: ReviewRow): boolean =>
    review.state !== 'PENDING' || review.author === call.visitor.identity?.account;
  const json = async (call: Call, { issue, repository }: PullPlace, reviews: readonly ReviewRow[]) => {
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
  };
  const reviewAt = async (call: Call) => {
    const place = await pullAt(parts, call);
    const review = await db
      .selectFrom('reviews')
      .selectAll()
      .where('issue_id', '=', place.issue.id)
      .where('id', '=', numberOf(call.params['id']))
      .executeTakeFirst();
    if (review === undefined || !isVisible(call, review)) throw unknown();
    return { ...place, review };
  };
  const one = async (call: Call, place: PullPlace, id: number) => {
    const [found] = await json(call, place, await db.selectFrom('reviews').selectAll().where('id', '=', id).execute());
    if (found === undefined) throw unknown();
    return ok(found);
  };
  const comments = async (
    repository: Repository,
    place: PullPlace,
    asked: z.infer<typeof reviewBody>['comments'],
  ): Promise<readonly LineComment[]> => {
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
  };

  return [
    {
      method: 'GET',
      path: '/repos/:owner/:repo/pulls/:index/reviews',
      scope: 'repository',
      handle: async (call) => {
        const place = await pullAt(parts, call);
        const all = await db
          .selectFrom('reviews')
          .selectAll()
          .where('issue_id', '=', place.issue.id)
          .orderBy('id')
          .execute();
        const seen = all.filter((review) => isVisible(call, review));
        const page = pageOf(call.query);
        return ok(await json(call, place, partOf(seen, page)), listHeaders(call, page, seen.length));
      },
    },
    {
      method: 'POST',
      path: '/repos/:owner/:repo/pulls/:index/reviews',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const place = await pullAt(parts, call);
        const { issue, level, repository } = place;
        needOpen(repository);
        const asked = await bodyOf(call, reviewBody);
        const { head } = await pulls.state(repository, issue);
        const wanted = {
          state: stateOf(asked.event),
          body: asked.body ?? '',
          commit: (asked.commit_id ?? '') === '' ? head : (asked.commit_id ?? head),
          official: mayWrite(level),
          comments: await comments(repository, place, asked.comments),
        };
        const id = await writer.run(repository, accountOf(call), (work) => addReview(work, issue, wanted));
        return one(call, place, id);
      },
    },
    {
      method: 'GET',
      path: '/repos/:owner/:repo/pulls/:index/reviews/:id',
      scope: 'repository',
      handle: async (call) => {
        const { review, ...place } = await reviewAt(call);
        return one(call, place, review.id);
      },
    },
    {
      method: 'POST',
      path: '/repos/:owner/:repo/pulls/:index/reviews/:id',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { review, ...place } = await reviewAt(call);
        if (review.author !== accountOf(call) || review.state !== 'PENDING')
          throw new Problem('git.invalid', 422, 'review is not pending');
        const asked = await bodyOf(call, reviewBody);
        const state = stateOf(asked.event);
        if (state === 'PENDING') throw new Problem('git.invalid', 422, 'review stay pending');
        await writer.run(place.repository, review.author, (work) =>
          submitReview(work, place.issue, review.id, state, asked.body ?? ''),
        );
        return one(call, place, review.id);
      },
    },
    {
      method: 'DELETE',
      path: '/repos/:owner/:repo/pulls/:index/reviews/:id',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { review, level, repository } = await reviewAt(call);
        if (review.author !== accountOf(call) && level !== 'admin')
          throw new Problem('git.forbidden', 403, 'only the reviewer or an administrator may do that');
        const files = await writer.run(repository, accountOf(call), (work) => removeReview(work, review));
        await attachments.forget(repository, files);
        return noContent;
      },
    },
    {
      method: 'GET',
      path: '/repos/:owner/:repo/pulls/:index/reviews/:id/comments',
      scope: 'repository',
      handle: async (call) => {
        const { issue, repository, review } = await reviewAt(call);
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
      },
    },
    ...(['dismissals', 'undismissals'] as const).map((kind): Route => ({
      method: 'POST',
      path: `/repos/:owner/:repo/pulls/:index/reviews/:id/${kind}`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { review, ...place } = await reviewAt(call);
        needWrite(place);
        const { message = '' } = await bodyOf(call, dismissBody);
        await writer.run(place.repository, accountOf(call), (work) =>
          setDismissed(work, review, kind === 'dismissals', message),
        );
        return one(call, place, review.id);
      },
    })),
    ...(['POST', 'DELETE'] as const).map((method): Route => ({
      method,
      path: '/repos/:owner/:repo/pulls/:index/requested_reviewers',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
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
      },
    })),
  ];
}
