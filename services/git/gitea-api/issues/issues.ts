import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import { Attachments } from '../../issues/attachments.ts';
import {
  createIssue,
  setAssignees,
  setBody,
  setClosed,
  setDue,
  setLocked,
  setMilestone,
  setTitle,
} from '../../issues/changes.ts';
import { needUnblocked } from '../../issues/dependencies.ts';
import type { Issue, IssueQuery } from '../../issues/issues.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Repository, Sight } from '../../repositories/repositories.ts';
import { issueJson } from '../../wire/issues.ts';
import {
  accountOf,
  bodyOf,
  created,
  noContent,
  ok,
  optional,
  required,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from '../call.ts';
import { flag, listHeaders, pageOf } from '../paging.ts';
import { placeOf } from '../api-dependencies.ts';
import { isClosedState, labelIdsOf, milestoneOf } from './fields.ts';
import {
  accountsNamed,
  issueAt,
  mayWrite,
  namesIn,
  needAuthor,
  needOpen,
  needWrite,
  peopleOf,
  repositoryAt,
  timeAt,
  type IssueParts,
} from './issue-access.ts';

const issueBody = z.object({
  title: required.max(255, 'MaxSize'),
  body: optional(z.string()),
  ref: optional(z.string()),
  assignee: optional(z.string()),
  assignees: optional(z.array(z.string())),
  due_date: optional(z.string()),
  milestone: optional(z.int()),
  labels: optional(z.array(z.union([z.int(), z.string()]))),
  closed: optional(z.boolean()),
});
const changeBody = z.object({
  title: optional(z.string()),
  body: optional(z.string()),
  ref: optional(z.string()),
  assignee: optional(z.string()),
  assignees: optional(z.array(z.string())),
  milestone: optional(z.int()),
  state: optional(z.string()),
  due_date: optional(z.string()),
  unset_due_date: optional(z.boolean()),
});
const deadlineBody = z.object({ due_date: z.string().nullish() });
const lockBody = z.object({ lock_reason: optional(z.string()) });

/** Issues: made, found, read and changed. Pull requests are issues as well. */
export function issueRoutes(parts: IssueParts): readonly Route[] {
  const { writer } = parts;
  return [
    route('GET', '/repos/issues/search', 'issue', (call) => searchIssues(parts, call)),
    route('GET', '/repos/:owner/:repo/issues', 'issue', (call) => listIssues(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/issues', 'issue', (call) => createNewIssue(parts, call)),
    route('GET', '/repos/:owner/:repo/issues/:index', 'issue', (call) => readIssue(parts, call)),
    signedInRoute('PATCH', '/repos/:owner/:repo/issues/:index', 'issue', (call) => changeIssue(parts, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/issues/:index', 'issue', (call) => deleteIssue(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/issues/:index/deadline', 'issue', (call) => setDeadline(parts, call)),
    ...(['PUT', 'DELETE'] as const).map((method): Route =>
      signedInRoute(method, '/repos/:owner/:repo/issues/:index/lock', 'issue', async (call) => {
        const found = await issueAt(parts, call);
        needWrite(found);
        const { lock_reason: reason } = method === 'PUT' ? await bodyOf(call, lockBody) : {};
        await writer.run(found.repository, accountOf(call), (work) =>
          setLocked(work, found.issue, method === 'PUT', reason),
        );
        return noContent;
      }),
    ),
  ];
}

async function toIssueJson(parts: IssueParts, call: Call, repository: Repository, issue: Issue) {
  return issueJson(issue, repository, placeOf(call, repository), await peopleOf(parts, call, namesIn([issue])));
}

async function readIssueJson(parts: IssueParts, call: Call, repository: Repository, id: number) {
  const { issues } = parts;
  const issue = await issues.byId(id);
  if (issue === undefined) throw unknown();
  return toIssueJson(parts, call, repository, issue);
}

function getVisibility(parts: IssueParts, { visitor }: Call): Promise<Sight> {
  return parts.access.sight(visitor);
}

async function searchIssues(parts: IssueParts, call: Call): Promise<Answer> {
  const { issues, repositories } = parts;
  const { query } = call;
  const page = pageOf(query);
  const own = (name: string) => (flag(query, name) === true ? accountOf(call) : undefined);
  const found = await issues.list({
    ...filterOf(query),
    in: await getVisibility(parts, call),
    owner: query.get('owner') ?? undefined,
    author: own('created') ?? textOf(query, 'created_by'),
    assignee: own('assigned') ?? textOf(query, 'assigned_by'),
    mentioned: own('mentioned') ?? textOf(query, 'mentioned_by'),
    reviewRequested: own('review_requested'),
    reviewed: own('reviewed'),
    ...page,
  });
  const known = new Map<number, Repository>();
  for (const { repository_id: id } of found.issues) {
    const repository = known.get(id) ?? (await repositories.byId(id));
    if (repository !== undefined) known.set(id, repository);
  }
  const people = await peopleOf(parts, call, namesIn(found.issues));
  const some = found.issues.flatMap((issue) => {
    const repository = known.get(issue.repository_id);
    return repository === undefined ? [] : [issueJson(issue, repository, placeOf(call, repository), people)];
  });
  return ok(some, listHeaders(call, page, found.total));
}

async function listIssues(parts: IssueParts, call: Call): Promise<Answer> {
  const { issues } = parts;
  const { repository } = await repositoryAt(parts, call);
  const { query } = call;
  const page = pageOf(query);
  const found = await issues.list({
    ...filterOf(query),
    in: repository.id,
    author: textOf(query, 'created_by'),
    assignee: textOf(query, 'assigned_by'),
    mentioned: textOf(query, 'mentioned_by'),
    ...page,
  });
  const people = await peopleOf(parts, call, namesIn(found.issues));
  const place = placeOf(call, repository);
  return ok(
    found.issues.map((issue) => issueJson(issue, repository, place, people)),
    listHeaders(call, page, found.total),
  );
}

async function createNewIssue(parts: IssueParts, call: Call): Promise<Answer> {
  const { writer } = parts;
  const { repository, level } = await repositoryAt(parts, call);
  needOpen(repository);
  const asked = await bodyOf(call, issueBody);
  // What others say of an issue is not for its author to decide.
  const isOurs = mayWrite(level);
  const names = [...(asked.assignees ?? []), ...((asked.assignee ?? '') === '' ? [] : [asked.assignee ?? ''])];
  const assignees = isOurs ? await accountsNamed(parts, names) : [];
  const labels = isOurs ? await labelIdsOf(parts, repository, asked.labels ?? []) : [];
  const milestone = isOurs ? await milestoneOf(parts, repository, asked.milestone) : undefined;
  const wanted = {
    ...{ title: asked.title, body: asked.body ?? '', ref: asked.ref, pull: false },
    ...{ assignees, labels, milestone, closed: asked.closed },
    dueAt: isOurs ? timeAt(asked.due_date) : undefined,
  };
  const made = await writer.run(repository, accountOf(call), (work) => createIssue(work, wanted));
  return created(await readIssueJson(parts, call, repository, made.id));
}

async function readIssue(parts: IssueParts, call: Call): Promise<Answer> {
  const { repository, issue } = await issueAt(parts, call);
  return ok(await toIssueJson(parts, call, repository, issue));
}

async function changeIssue(parts: IssueParts, call: Call): Promise<Answer> {
  const { writer } = parts;
  const found = await issueAt(parts, call);
  const { issue, level, repository } = found;
  needAuthor(call, found);
  const asked = await bodyOf(call, changeBody);
  const isOurs = mayWrite(level);
  const closed = isClosedState(asked.state);
  if (closed === false && issue.request !== undefined && issue.request.merged_commit !== null) {
    throw new Problem('git.merged', 412, 'cannot change state of this pull request, it was already merged');
  }
  const assigned =
    asked.assignees ?? (asked.assignee === undefined ? undefined : [asked.assignee].filter((name) => name !== ''));
  const assignees = isOurs && assigned !== undefined ? await accountsNamed(parts, assigned) : undefined;
  const milestone = isOurs ? await milestoneOf(parts, repository, asked.milestone) : undefined;
  const title = asked.title?.trim() ?? '';
  if (title.length > 255) throw new Problem('git.invalid', 422, '[Title]: MaxSize');
  const dueAt = asked.unset_due_date === true ? null : timeAt(asked.due_date);
  await writer.run(repository, accountOf(call), async (work) => {
    if (title !== '') await setTitle(work, issue, title);
    if (asked.body !== undefined) await setBody(work, issue, asked.body);
    if (asked.ref !== undefined)
      await work.db.updateTable('issues').set({ ref: asked.ref }).where('id', '=', issue.id).execute();
    if (isOurs && dueAt !== undefined) await setDue(work, issue, dueAt);
    if (assignees !== undefined) await setAssignees(work, issue, assignees);
    if (milestone !== undefined) await setMilestone(work, issue, milestone);
    if (closed === true) await needUnblocked(work.db, issue.id);
    if (closed !== undefined) await setClosed(work, issue, closed);
  });
  return created(await readIssueJson(parts, call, repository, issue.id));
}

async function deleteIssue(parts: IssueParts, call: Call): Promise<Answer> {
  const { context, writer } = parts;
  const attachments = new Attachments(context);

  const { issue, level, repository } = await issueAt(parts, call);
  needOpen(repository);
  if (level !== 'admin') throw new Problem('git.forbidden', 403, 'Only who runs the repository may do that.');
  const files = await attachments.all(issue.id);
  await writer.run(repository, accountOf(call), ({ db }) =>
    db.deleteFrom('issues').where('id', '=', issue.id).execute(),
  );
  await attachments.forget(repository, files);
  return noContent;
}

async function setDeadline(parts: IssueParts, call: Call): Promise<Answer> {
  const { writer } = parts;
  const found = await issueAt(parts, call);
  needWrite(found);
  const dueAt = timeAt((await bodyOf(call, deadlineBody)).due_date) ?? null;
  await writer.run(found.repository, accountOf(call), (work) => setDue(work, found.issue, dueAt));
  return created({ due_date: dueAt === null ? null : new Date(dueAt).toISOString().replace(/\.\d{3}/, '') });
}

/** What the lists of issues have in common. */
function filterOf(query: URLSearchParams): Omit<IssueQuery, 'in' | 'limit' | 'offset'> {
  const state = query.get('state') ?? '';
  const type = query.get('type') ?? '';
  const list = (name: string) =>
    (query.get(name) ?? '')
      .split(',')
      .map((text) => text.trim())
      .filter((text) => text !== '');
  return {
    closed: state === 'all' ? undefined : state === 'closed',
    pull: type === 'pulls' ? true : type === 'issues' ? false : undefined,
    words: query.get('q') ?? '',
    labels: list('labels'),
    milestones: list('milestones'),
    since: timeAt(query.get('since')),
    before: timeAt(query.get('before')),
  };
}

function textOf(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name);
  return text === null || text === '' ? undefined : text;
}
