import { implement, type ApiHandler, type ApiRequest } from '../../contracts/api.ts';
import { gitIssuesApi, type GitIssue, type GitThread, type GitThreadEntry } from '../../contracts/git/issues.ts';
import { Problem } from '../../contracts/problem.ts';
import { isDraftTitle } from '../domain/issue-text.ts';
import {
  addComment,
  createIssue,
  setAssignees,
  setBody,
  setClosed,
  setLabels,
  setMilestone,
  setTitle,
} from '../issues/changes.ts';
import { needUnblocked } from '../issues/dependencies.ts';
import type { Issue } from '../issues/issues.ts';
import { milestonesOf, withCounts } from '../issues/milestones.ts';
import { seenBy } from '../issues/entry-visibility.ts';
import { isPull } from '../pulls/pulls.ts';
import type { Repository } from '../repositories/repositories.ts';
import { unknown } from '../repositories/lookup.ts';
import { accountsNamed, mayWrite, needOpen, needWrite, type IssuePlace } from '../gitea-api/issues/issue-access.ts';
import type { PullRestParts } from '../gitea-api/pulls/pull-views.ts';
import type { Db } from '../gitea-api/api-dependencies.ts';
import { nobody } from '../sign-in/visitor.ts';
import type { EntryDetails, LabelRow } from '../store/issue-tables.ts';
import { requestView } from './request-view.ts';

const perPage = 50;
const ok = { ok: true } as const;

/** A call of our own API on a repository. */
export type OwnCall = Pick<ApiRequest<unknown, unknown>, 'identity' | 'params'>;

export function ownAccount({ identity }: Pick<OwnCall, 'identity'>): string {
  if (identity === undefined) throw new Problem('git.sign_in', 401, 'Sign in first.');
  return identity.account;
}

/** The repository of a call. @throws Problem (404) */
export async function ownRepository({ lookup }: Pick<PullRestParts, 'lookup'>, call: OwnCall): Promise<IssuePlace> {
  ownAccount(call);
  const found = await lookup.find(
    { ...nobody, identity: call.identity },
    call.params['owner'] ?? '',
    call.params['name'] ?? '',
  );
  if (found === undefined) throw unknown();
  return found;
}

/** The issue or pull request of a call. @throws Problem (404) */
export async function ownIssue(parts: PullRestParts, call: OwnCall): Promise<IssuePlace & { readonly issue: Issue }> {
  const place = await ownRepository(parts, call);
  const number = Number(call.params['number']);
  const issue = Number.isSafeInteger(number) ? await parts.issues.find(place.repository.id, number) : undefined;
  if (issue === undefined) throw unknown();
  return { ...place, issue };
}

/** Issues for the pages, and what pull requests have in common with them. */
export function ownIssueRoutes(parts: PullRestParts): readonly ApiHandler[] {
  return [...threadRoutes(parts), ...threadChangeRoutes(parts), ...labelRoutes(parts), ...milestoneRoutes(parts)];
}

function threadRoutes(parts: PullRestParts): readonly ApiHandler[] {
  const { issues, writer } = parts;
  return [
    implement(gitIssuesApi.list, async ({ query, ...call }) => {
      const { repository } = await ownRepository(parts, call);
      const filter = {
        in: repository.id,
        pull: query.kind === 'pulls',
        words: query.q,
        labels: query.label === '' ? [] : [query.label],
        milestones: query.milestone === '' ? [] : [query.milestone],
        assignee: query.assignee === '' ? undefined : query.assignee,
      };
      const closed = query.state === 'closed';
      const [found, others] = await Promise.all([
        issues.list({ ...filter, closed, limit: perPage, offset: query.offset }),
        issues.count({ ...filter, closed: !closed }),
      ]);
      const [open, done] = closed ? [others, found.total] : [found.total, others];
      return { issues: found.issues.map(issueView), open, closed: done, more: found.total > query.offset + perPage };
    }),
    implement(gitIssuesApi.thread, async (call) => threadView(parts, call, await ownIssue(parts, call))),
    implement(gitIssuesApi.create, async ({ body, ...call }) => {
      const { repository, level } = await ownRepository(parts, call);
      needOpen(repository);
      const wanted = { title: body.title, body: body.text, pull: false, labels: mayWrite(level) ? body.labels : [] };
      const { number } = await writer.run(repository, ownAccount(call), (work) => createIssue(work, wanted));
      return { number };
    }),
  ];
}

function threadChangeRoutes(parts: PullRestParts): readonly ApiHandler[] {
  const { writer } = parts;
  return [
    implement(gitIssuesApi.change, async ({ body, ...call }) => {
      const place = await ownIssue(parts, call);
      const { issue, repository } = place;
      const account = ownAccount(call);
      needOpen(repository);
      if (
        issue.author !== account ||
        body.labels !== undefined ||
        body.assignees !== undefined ||
        body.milestone !== undefined
      )
        needWrite(place);
      if (body.closed === false && issue.request?.merged_at !== null && issue.request !== undefined)
        throw new Problem('git.merged', 409, 'It is merged.');
      if (body.milestone !== undefined && body.milestone !== null) await milestoneAt(parts, repository, body.milestone);
      const assignees = body.assignees === undefined ? undefined : await accountsNamed(parts, body.assignees);
      await writer.run(repository, account, async (work) => {
        if (body.title !== undefined) await setTitle(work, issue, body.title);
        if (body.text !== undefined) await setBody(work, issue, body.text);
        if (body.labels !== undefined) await setLabels(work, issue, body.labels);
        if (assignees !== undefined) await setAssignees(work, issue, assignees);
        if (body.milestone !== undefined) await setMilestone(work, issue, body.milestone);
        if (body.closed === true) await needUnblocked(work.db, issue.id);
        if (body.closed !== undefined) await setClosed(work, issue, body.closed);
      });
      return ok;
    }),
    implement(gitIssuesApi.comment, async ({ body, ...call }) => {
      const place = await ownIssue(parts, call);
      needOpen(place.repository);
      if (place.issue.locked === 1) needWrite(place);
      await writer.run(place.repository, ownAccount(call), (work) => addComment(work, place.issue, body.text));
      return ok;
    }),
  ];
}

function labelRoutes(parts: PullRestParts): readonly ApiHandler[] {
  const { context, db } = parts;
  const { accounts } = parts.context;
  return [
    implement(gitIssuesApi.fields, async (call) => {
      const { repository } = await ownRepository(parts, call);
      const [labels, milestones, people] = await Promise.all([
        db.selectFrom('labels').selectAll().where('repository_id', '=', repository.id).orderBy('name').execute(),
        milestonesOf(db, repository.id),
        accounts.list(),
      ]);
      return {
        labels: labels.map(labelView),
        milestones: milestones.map(({ id, title, closed, open_issues, closed_issues, due_at }) => ({
          ...{ id, title, closed: closed === 1, dueAt: due_at },
          ...{ open: Number(open_issues), done: Number(closed_issues) },
        })),
        people: people.flatMap(({ kind, name }) => (kind === 'person' && name !== '*' ? [name] : [])),
      };
    }),
    implement(gitIssuesApi.addLabel, async ({ body, ...call }) => {
      const place = await ownRepository(parts, call);
      needWrite(place);
      const row = await context.commit((transaction: Db) =>
        transaction
          .insertInto('labels')
          .values({ repository_id: place.repository.id, ...body, exclusive: 0, archived: 0 })
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return labelView(row);
    }),
    implement(gitIssuesApi.changeLabel, async ({ body, ...call }) => {
      const place = await ownRepository(parts, call);
      needWrite(place);
      const row = await context.commit((transaction: Db) =>
        transaction
          .updateTable('labels')
          .set(body)
          .where('repository_id', '=', place.repository.id)
          .where('id', '=', Number(call.params['label']) || 0)
          .returningAll()
          .executeTakeFirst(),
      );
      if (row === undefined) throw unknown();
      return labelView(row);
    }),
    implement(gitIssuesApi.removeLabel, async (call) => {
      const place = await ownRepository(parts, call);
      needWrite(place);
      const removed = await context.commit((transaction: Db) =>
        transaction
          .deleteFrom('labels')
          .where('repository_id', '=', place.repository.id)
          .where('id', '=', Number(call.params['label']) || 0)
          .returning('id')
          .executeTakeFirst(),
      );
      if (removed === undefined) throw unknown();
      return ok;
    }),
  ];
}

function milestoneRoutes(parts: PullRestParts): readonly ApiHandler[] {
  const { context } = parts;
  return [
    implement(gitIssuesApi.addMilestone, async ({ body, ...call }) => {
      const place = await ownRepository(parts, call);
      needWrite(place);
      const now = context.clock.now();
      const row = {
        repository_id: place.repository.id,
        title: body.title,
        description: '',
        closed: 0,
        due_at: body.dueAt,
        created_at: now,
        updated_at: now,
      };
      await context.commit((transaction: Db) => transaction.insertInto('milestones').values(row).execute());
      return ok;
    }),
    implement(gitIssuesApi.closeMilestone, async ({ body, ...call }) => {
      const place = await ownRepository(parts, call);
      needWrite(place);
      const milestone = await milestoneAt(parts, place.repository, Number(call.params['milestone']));
      const now = context.clock.now();
      const set = { closed: Number(body.closed), closed_at: body.closed ? now : null, updated_at: now };
      await context.commit((transaction: Db) =>
        transaction.updateTable('milestones').set(set).where('id', '=', milestone.id).execute(),
      );
      return ok;
    }),
  ];
}

/** @throws Problem (404) */
async function milestoneAt({ db }: Pick<PullRestParts, 'db'>, repository: Repository, id: number) {
  const found = await withCounts(db)
    .where('milestones.repository_id', '=', repository.id)
    .where('milestones.id', '=', id)
    .executeTakeFirst();
  if (found === undefined) throw unknown();
  return found;
}

async function threadView(
  parts: PullRestParts,
  call: OwnCall,
  { issue, level, repository }: IssuePlace & { readonly issue: Issue },
): Promise<GitThread> {
  const { db } = parts;
  const account = ownAccount(call);
  const [rows, labels, milestones, reviews] = await Promise.all([
    db
      .selectFrom('issue_entries')
      .selectAll()
      .where('issue_id', '=', issue.id)
      .where(seenBy(account))
      .orderBy('id')
      .execute(),
    db.selectFrom('labels').selectAll().where('repository_id', '=', repository.id).execute(),
    milestonesOf(db, repository.id),
    db.selectFrom('reviews').select(['id', 'state']).where('issue_id', '=', issue.id).execute(),
  ]);
  const titleOf = (id: number | undefined): string => milestones.find((each) => each.id === id)?.title ?? '';
  const entries = rows.map(({ author, body, created_at, details, id, kind, review_id }): GitThreadEntry => {
    const said = JSON.parse(details) as EntryDetails;
    const label = labels.find((each) => each.id === said.label);
    const state = reviews.find((each) => each.id === review_id)?.state;
    return {
      ...{ id, kind, author, time: created_at, review: review_id },
      text: kind === 'pull_push' ? '' : body,
      commits: kind === 'pull_push' ? (JSON.parse(body) as { commit_ids: string[] }).commit_ids : [],
      label: label === undefined ? null : labelView(label),
      added: kind === 'label' ? said.added === true : said.removed !== true,
      before: kind === 'milestone' ? titleOf(said.oldMilestone) : (said.before ?? ''),
      after: kind === 'milestone' ? titleOf(said.milestone) : (said.assignee ?? said.after ?? ''),
      commit: said.commit ?? '',
      verdict: kind !== 'review' || state === undefined || state === 'PENDING' ? null : state,
      ...{ path: said.path ?? '', line: said.line ?? 0, hunk: said.hunk ?? '' },
    };
  });
  const view = { ...issueView(issue), text: issue.body, locked: issue.locked === 1, entries };
  const rights = { mayWrite: mayWrite(level), mayEdit: mayWrite(level) || issue.author === account };
  if (!isPull(issue)) return { ...view, ...rights, request: null };
  return { ...view, ...rights, request: await requestView(parts, { issue, level, repository }, account) };
}

function issueView(issue: Issue): GitIssue {
  const { assignees, author, comments, created_at, labels, milestone, number, request, title, updated_at } = issue;
  const isOpen = issue.closed === 0;
  return {
    ...{ number, title, author, comments, createdAt: created_at, updatedAt: updated_at },
    pull: issue.pull === 1,
    state:
      request !== undefined && request.merged_at !== null
        ? 'merged'
        : !isOpen
          ? 'closed'
          : request !== undefined && isDraftTitle(title)
            ? 'draft'
            : 'open',
    labels: labels.map(labelView),
    milestone: milestone === undefined ? null : { id: milestone.id, title: milestone.title },
    assignees: [...assignees],
  };
}

function labelView({ id, name, color, description }: LabelRow) {
  return { id, name, color, description };
}
