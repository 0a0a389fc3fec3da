import * as m from '#messages/git-problems';
import { compareNames } from '../../contracts/compare-names.ts';
import { implement, type ApiHandler, type ApiRequest } from '../../contracts/api.ts';
import { gitIssuesApi, type GitIssue, type GitThread } from '../../contracts/git/issues.ts';
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
import { requireUnblocked } from '../issues/dependencies.ts';
import type { Issue } from '../issues/issues.ts';
import { listRepositoryMilestones, selectMilestones } from '../issues/milestones.ts';
import { isVisibleTo } from '../issues/entry-visibility.ts';
import { addReaction, removeReaction } from '../issues/reactions.ts';
import { isPull } from '../pulls/pulls.ts';
import type { Repository } from '../repositories/repositories.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import {
  resolveAccounts,
  mayWrite,
  requireNotArchived,
  requireWrite,
  type IssueContext,
} from '../gitea-api/issues/issue-access.ts';
import type { Db } from '../store/tables.ts';
import { anonymousCaller } from '../sign-in/caller.ts';
import { labelView } from './label-view.ts';
import { requestView } from './request-view.ts';
import { readTimeline } from './timeline.ts';
import type { AccessControl, RouteDependencies } from '../components.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'collaboration'>;

const perPage = 50;
const ok = { ok: true } as const;

/** Request of the app API for a repository. */
export type AppCall = Pick<ApiRequest<unknown, unknown>, 'identity' | 'params'>;

export function getAccount({ identity }: Pick<AppCall, 'identity'>): string {
  if (identity === undefined) throw new Problem('git.sign_in', 401, m.signInFirst());
  return identity.account;
}

/** Returns the repository of a call. @throws Problem (404) */
export async function getRepository({ lookup }: Pick<AccessControl, 'lookup'>, call: AppCall): Promise<IssueContext> {
  getAccount(call);
  const result = await lookup.find(
    { ...anonymousCaller, identity: call.identity },
    call.params['owner'] ?? '',
    call.params['name'] ?? '',
  );
  if (result === undefined) throw buildNotFoundProblem();
  return result;
}

/** Returns the issue or pull request of a call. @throws Problem (404) */
export async function getIssue(deps: Dependencies, call: AppCall): Promise<IssueContext & { readonly issue: Issue }> {
  const target = await getRepository(deps.accessControl, call);
  const number = Number(call.params['number']);
  const issue = Number.isSafeInteger(number)
    ? await deps.collaboration.issues.find(target.repository.id, number)
    : undefined;
  if (issue === undefined) throw buildNotFoundProblem();
  return { ...target, issue };
}

/** Builds the routes of issues for the pages, most of which serve pull requests as well. */
export function issueRoutes(deps: Dependencies): readonly ApiHandler[] {
  return [
    ...threadRoutes(deps),
    ...threadChangeRoutes(deps),
    ...reactionRoutes(deps),
    ...fieldRoutes(deps),
    ...labelRoutes(deps),
    ...milestoneRoutes(deps),
  ];
}

function threadRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { issues, writer } = deps.collaboration;
  return [
    implement(gitIssuesApi.list, async ({ query, ...call }) => {
      const { repository } = await getRepository(deps.accessControl, call);
      const filter = {
        scope: repository.id,
        pull: query.kind === 'pulls',
        searchText: query.q,
        labels: query.label === '' ? [] : [query.label],
        milestones: query.milestone === '' ? [] : [query.milestone],
        assignee: query.assignee === '' ? undefined : query.assignee,
      };
      const closed = query.state === 'closed';
      const [result, others] = await Promise.all([
        issues.list({ ...filter, closed, limit: perPage, offset: query.offset }),
        issues.count({ ...filter, closed: !closed }),
      ]);
      const [open, done] = closed ? [others, result.total] : [result.total, others];
      return { issues: result.issues.map(issueView), open, closed: done, more: result.total > query.offset + perPage };
    }),
    implement(gitIssuesApi.thread, async (call) => threadView(deps, call, await getIssue(deps, call))),
    implement(gitIssuesApi.create, async ({ body, ...call }) => {
      const { repository, level } = await getRepository(deps.accessControl, call);
      requireNotArchived(repository);
      const requested = { title: body.title, body: body.text, pull: false, labels: mayWrite(level) ? body.labels : [] };
      const { number } = await writer.run(repository, getAccount(call), (work) => createIssue(work, requested));
      return { number };
    }),
  ];
}

function threadChangeRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { writer } = deps.collaboration;
  return [
    implement(gitIssuesApi.change, async ({ body, ...call }) => {
      const target = await getIssue(deps, call);
      const { issue, repository } = target;
      const account = getAccount(call);
      requireNotArchived(repository);
      if (
        issue.author !== account ||
        body.labels !== undefined ||
        body.assignees !== undefined ||
        body.milestone !== undefined
      )
        requireWrite(target);
      if (body.closed === false && issue.request?.merged_at !== null && issue.request !== undefined)
        throw new Problem('git.merged', 409, m.pullMerged());
      if (body.milestone !== undefined && body.milestone !== null)
        await milestoneAt(deps.storage, repository, body.milestone);
      const assignees = body.assignees === undefined ? undefined : await resolveAccounts(deps, body.assignees);
      await writer.run(repository, account, async (work) => {
        if (body.title !== undefined) await setTitle(work, issue, body.title);
        if (body.text !== undefined) await setBody(work, issue, body.text);
        if (body.labels !== undefined) await setLabels(work, issue, body.labels);
        if (assignees !== undefined) await setAssignees(work, issue, assignees);
        if (body.milestone !== undefined) await setMilestone(work, issue, body.milestone);
        if (body.closed === true) await requireUnblocked(work.db, issue.id);
        if (body.closed !== undefined) await setClosed(work, issue, body.closed);
      });
      return ok;
    }),
    implement(gitIssuesApi.comment, async ({ body, ...call }) => {
      const target = await getIssue(deps, call);
      requireNotArchived(target.repository);
      if (target.issue.locked === 1) requireWrite(target);
      await writer.run(target.repository, getAccount(call), (work) => addComment(work, target.issue, body.text));
      return ok;
    }),
  ];
}

function reactionRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { db } = deps.storage;
  const { writer } = deps.collaboration;
  return [
    implement(gitIssuesApi.react, async ({ body, ...call }) => {
      const target = await getIssue(deps, call);
      const { issue, repository } = target;
      requireNotArchived(repository);
      if (issue.locked === 1) requireWrite(target);
      const account = getAccount(call);
      if (body.entry > 0) {
        const entry = await db
          .selectFrom('issue_entries')
          .select('id')
          .where('id', '=', body.entry)
          .where('issue_id', '=', issue.id)
          .where(isVisibleTo(account))
          .executeTakeFirst();
        if (entry === undefined) throw buildNotFoundProblem();
      }
      const [subject, { content, enabled }] = [{ issue: issue.id, entry: body.entry }, body];
      await writer.run(repository, account, async (work) => {
        if (enabled) await addReaction(work.db, subject, { account, content, now: work.now });
        else await removeReaction(work.db, subject, { account, content });
      });
      return ok;
    }),
  ];
}

/** Builds the route that lists the values of the fields of an issue: labels, milestones and accounts. */
function fieldRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { db } = deps.storage;
  const { accounts } = deps.context;
  return [
    implement(gitIssuesApi.fields, async (call) => {
      const { repository } = await getRepository(deps.accessControl, call);
      const [labels, milestones, accountList] = await Promise.all([
        db.selectFrom('labels').selectAll().where('repository_id', '=', repository.id).orderBy('name').execute(),
        listRepositoryMilestones(db, repository.id),
        accounts.list(),
      ]);
      return {
        labels: labels.toSorted((a, b) => compareNames(a.name, b.name)).map(labelView),
        milestones: milestones.map(({ id, title, closed, open_issues, closed_issues, due_at }) => ({
          id,
          title,
          closed: closed === 1,
          dueAt: due_at,
          open: Number(open_issues),
          done: Number(closed_issues),
        })),
        people: accountList.flatMap(({ kind, name }) => (kind === 'person' && name !== '*' ? [name] : [])),
      };
    }),
  ];
}

function labelRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { context } = deps;
  return [
    implement(gitIssuesApi.addLabel, async ({ body, ...call }) => {
      const target = await getRepository(deps.accessControl, call);
      requireWrite(target);
      const row = await context.commit((transaction: Db) =>
        transaction
          .insertInto('labels')
          .values({ repository_id: target.repository.id, ...body, exclusive: 0, archived: 0 })
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return labelView(row);
    }),
    implement(gitIssuesApi.changeLabel, async ({ body, ...call }) => {
      const target = await getRepository(deps.accessControl, call);
      requireWrite(target);
      const row = await context.commit((transaction: Db) =>
        transaction
          .updateTable('labels')
          .set(body)
          .where('repository_id', '=', target.repository.id)
          .where('id', '=', Number(call.params['label']) || 0)
          .returningAll()
          .executeTakeFirst(),
      );
      if (row === undefined) throw buildNotFoundProblem();
      return labelView(row);
    }),
    implement(gitIssuesApi.removeLabel, async (call) => {
      const target = await getRepository(deps.accessControl, call);
      requireWrite(target);
      const removed = await context.commit((transaction: Db) =>
        transaction
          .deleteFrom('labels')
          .where('repository_id', '=', target.repository.id)
          .where('id', '=', Number(call.params['label']) || 0)
          .returning('id')
          .executeTakeFirst(),
      );
      if (removed === undefined) throw buildNotFoundProblem();
      return ok;
    }),
  ];
}

function milestoneRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { context } = deps;
  return [
    implement(gitIssuesApi.addMilestone, async ({ body, ...call }) => {
      const target = await getRepository(deps.accessControl, call);
      requireWrite(target);
      const now = context.clock.now();
      const row = {
        repository_id: target.repository.id,
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
      const target = await getRepository(deps.accessControl, call);
      requireWrite(target);
      const milestone = await milestoneAt(deps.storage, target.repository, Number(call.params['milestone']));
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
async function milestoneAt({ db }: Pick<RepositoryStorage, 'db'>, repository: Repository, id: number) {
  const result = await selectMilestones(db)
    .where('milestones.repository_id', '=', repository.id)
    .where('milestones.id', '=', id)
    .executeTakeFirst();
  if (result === undefined) throw buildNotFoundProblem();
  return result;
}

async function threadView(
  deps: Dependencies,
  call: AppCall,
  { issue, level, repository }: IssueContext & { readonly issue: Issue },
): Promise<GitThread> {
  const account = getAccount(call);
  const caller = { ...anonymousCaller, identity: call.identity };
  const { access } = deps.accessControl;
  const timeline = { access, storage: deps.storage };
  const { entries, reactions } = await readTimeline(timeline, repository, issue.id, caller);
  const view = {
    ...issueView(issue),
    text: issue.body,
    locked: issue.locked === 1,
    entries,
    reactions: [...reactions],
  };
  const rights = { mayWrite: mayWrite(level), mayEdit: mayWrite(level) || issue.author === account };
  if (!isPull(issue)) return { ...view, ...rights, request: null };
  return { ...view, ...rights, request: await requestView(deps, { issue, level, repository }, account) };
}

function issueView(issue: Issue): GitIssue {
  const { assignees, author, comments, created_at, labels, milestone, number, request, title, updated_at } = issue;
  const isOpen = issue.closed === 0;
  return {
    number,
    title,
    author,
    comments,
    createdAt: created_at,
    updatedAt: updated_at,
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
