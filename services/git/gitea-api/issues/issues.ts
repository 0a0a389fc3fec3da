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
import { requireUnblocked } from '../../issues/dependencies.ts';
import type { Issue, IssueQuery } from '../../issues/issues.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { RepositoryVisibility } from '../../repositories/repository-query.ts';
import { issueJson } from '../../wire/issues.ts';
import {
  getAccount,
  readJsonBody,
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
import { parseFlag, listHeaders, parsePage } from '../paging.ts';
import { getRepositoryAddress } from '../repository-requests.ts';
import { parseClosedState, resolveLabelIds, resolveMilestone } from './fields.ts';
import { readUsers } from '../../wire/read-users.ts';
import { listAccountNames } from '../../issues/account-names.ts';
import {
  resolveAccounts,
  getIssue,
  mayWrite,
  requireAuthor,
  requireNotArchived,
  requireWrite,
  getIssueRepository,
  parseTime,
} from './issue-access.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'collaboration'>;

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

/** Builds the routes of issues. Pull requests are issues as well. */
export function issueRoutes(deps: Dependencies): readonly Route[] {
  const { writer } = deps.collaboration;
  return [
    route('GET', '/repos/issues/search', 'issue', (call) => searchIssues(deps, call)),
    route('GET', '/repos/:owner/:repo/issues', 'issue', (call) => listIssues(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/issues', 'issue', (call) => createNewIssue(deps, call)),
    route('GET', '/repos/:owner/:repo/issues/:index', 'issue', (call) => readIssue(deps, call)),
    signedInRoute('PATCH', '/repos/:owner/:repo/issues/:index', 'issue', (call) => changeIssue(deps, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/issues/:index', 'issue', (call) => deleteIssue(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/issues/:index/deadline', 'issue', (call) => setDeadline(deps, call)),
    ...(['PUT', 'DELETE'] as const).map((method): Route =>
      signedInRoute(method, '/repos/:owner/:repo/issues/:index/lock', 'issue', async (call) => {
        const result = await getIssue(deps, call);
        requireWrite(result);
        const { lock_reason: reason } = method === 'PUT' ? await readJsonBody(call, lockBody) : {};
        await writer.run(result.repository, getAccount(call), (work) =>
          setLocked(work, result.issue, method === 'PUT', reason),
        );
        return noContent;
      }),
    ),
  ];
}

async function toIssueJson(deps: Dependencies, call: Call, repository: Repository, issue: Issue) {
  return issueJson(
    issue,
    repository,
    getRepositoryAddress(call, repository),
    await readUsers(deps, call, listAccountNames([issue])),
  );
}

async function readIssueJson(deps: Dependencies, call: Call, repository: Repository, id: number) {
  const { issues } = deps.collaboration;
  const issue = await issues.findById(id);
  if (issue === undefined) throw buildNotFoundProblem();
  return toIssueJson(deps, call, repository, issue);
}

function getVisibility(deps: Dependencies, { caller }: Call): Promise<RepositoryVisibility> {
  return deps.accessControl.access.getVisibility(caller);
}

async function searchIssues(deps: Dependencies, call: Call): Promise<Answer> {
  const { issues } = deps.collaboration;
  const { repositories } = deps.storage;
  const { query } = call;
  const page = parsePage(query);
  const getOwnFilter = (name: string) => (parseFlag(query, name) === true ? getAccount(call) : undefined);
  const result = await issues.list({
    ...parseFilter(query),
    scope: await getVisibility(deps, call),
    owner: query.get('owner') ?? undefined,
    author: getOwnFilter('created') ?? getQueryText(query, 'created_by'),
    assignee: getOwnFilter('assigned') ?? getQueryText(query, 'assigned_by'),
    mentioned: getOwnFilter('mentioned') ?? getQueryText(query, 'mentioned_by'),
    reviewRequested: getOwnFilter('review_requested'),
    reviewed: getOwnFilter('reviewed'),
    ...page,
  });
  const repositoriesById = new Map<number, Repository>();
  for (const { repository_id: id } of result.issues) {
    const repository = repositoriesById.get(id) ?? (await repositories.findById(id));
    if (repository !== undefined) repositoriesById.set(id, repository);
  }
  const toUser = await readUsers(deps, call, listAccountNames(result.issues));
  const views = result.issues.flatMap((issue) => {
    const repository = repositoriesById.get(issue.repository_id);
    return repository === undefined
      ? []
      : [issueJson(issue, repository, getRepositoryAddress(call, repository), toUser)];
  });
  return ok(views, listHeaders(call, page, result.total));
}

async function listIssues(deps: Dependencies, call: Call): Promise<Answer> {
  const { issues } = deps.collaboration;
  const { repository } = await getIssueRepository(deps.accessControl, call);
  const { query } = call;
  const page = parsePage(query);
  const result = await issues.list({
    ...parseFilter(query),
    scope: repository.id,
    author: getQueryText(query, 'created_by'),
    assignee: getQueryText(query, 'assigned_by'),
    mentioned: getQueryText(query, 'mentioned_by'),
    ...page,
  });
  const toUser = await readUsers(deps, call, listAccountNames(result.issues));
  const address = getRepositoryAddress(call, repository);
  return ok(
    result.issues.map((issue) => issueJson(issue, repository, address, toUser)),
    listHeaders(call, page, result.total),
  );
}

async function createNewIssue(deps: Dependencies, call: Call): Promise<Answer> {
  const { writer } = deps.collaboration;
  const { repository, level } = await getIssueRepository(deps.accessControl, call);
  requireNotArchived(repository);
  const input = await readJsonBody(call, issueBody);
  // Labels, assignees and milestones need write access.
  const mayEditFields = mayWrite(level);
  const names = [...(input.assignees ?? []), ...((input.assignee ?? '') === '' ? [] : [input.assignee ?? ''])];
  const assignees = mayEditFields ? await resolveAccounts(deps, names) : [];
  const labels = mayEditFields ? await resolveLabelIds(deps.storage, repository, input.labels ?? []) : [];
  const milestone = mayEditFields ? await resolveMilestone(deps.storage, repository, input.milestone) : undefined;
  const newIssue = {
    title: input.title,
    body: input.body ?? '',
    ref: input.ref,
    pull: false,
    assignees,
    labels,
    milestone,
    closed: input.closed,
    dueAt: mayEditFields ? parseTime(input.due_date) : undefined,
  };
  const createdIssue = await writer.run(repository, getAccount(call), (work) => createIssue(work, newIssue));
  return created(await readIssueJson(deps, call, repository, createdIssue.id));
}

async function readIssue(deps: Dependencies, call: Call): Promise<Answer> {
  const { repository, issue } = await getIssue(deps, call);
  return ok(await toIssueJson(deps, call, repository, issue));
}

async function changeIssue(deps: Dependencies, call: Call): Promise<Answer> {
  const { writer } = deps.collaboration;
  const result = await getIssue(deps, call);
  const { issue, level, repository } = result;
  requireAuthor(call, result);
  const input = await readJsonBody(call, changeBody);
  const mayEditFields = mayWrite(level);
  const closed = parseClosedState(input.state);
  if (closed === false && issue.request !== undefined && issue.request.merged_commit !== null) {
    throw new Problem('git.merged', 412, 'cannot change state of this pull request, it was already merged');
  }
  const assigned =
    input.assignees ?? (input.assignee === undefined ? undefined : [input.assignee].filter((name) => name !== ''));
  const assignees = mayEditFields && assigned !== undefined ? await resolveAccounts(deps, assigned) : undefined;
  const milestone = mayEditFields ? await resolveMilestone(deps.storage, repository, input.milestone) : undefined;
  const title = input.title?.trim() ?? '';
  if (title.length > 255) throw new Problem('git.invalid', 422, '[Title]: MaxSize');
  const dueAt = input.unset_due_date === true ? null : parseTime(input.due_date);
  await writer.run(repository, getAccount(call), async (work) => {
    if (title !== '') await setTitle(work, issue, title);
    if (input.body !== undefined) await setBody(work, issue, input.body);
    if (input.ref !== undefined)
      await work.db.updateTable('issues').set({ ref: input.ref }).where('id', '=', issue.id).execute();
    if (mayEditFields && dueAt !== undefined) await setDue(work, issue, dueAt);
    if (assignees !== undefined) await setAssignees(work, issue, assignees);
    if (milestone !== undefined) await setMilestone(work, issue, milestone);
    if (closed === true) await requireUnblocked(work.db, issue.id);
    if (closed !== undefined) await setClosed(work, issue, closed);
  });
  return created(await readIssueJson(deps, call, repository, issue.id));
}

async function deleteIssue(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { writer } = deps.collaboration;
  const attachments = new Attachments(context);

  const { issue, level, repository } = await getIssue(deps, call);
  requireNotArchived(repository);
  if (level !== 'admin') throw new Problem('git.forbidden', 403, 'Only administrators of the repository can do that.');
  const files = await attachments.listAll(issue.id);
  await writer.run(repository, getAccount(call), ({ db }) =>
    db.deleteFrom('issues').where('id', '=', issue.id).execute(),
  );
  await attachments.deleteFiles(repository, files);
  return noContent;
}

async function setDeadline(deps: Dependencies, call: Call): Promise<Answer> {
  const { writer } = deps.collaboration;
  const result = await getIssue(deps, call);
  requireWrite(result);
  const dueAt = parseTime((await readJsonBody(call, deadlineBody)).due_date) ?? null;
  await writer.run(result.repository, getAccount(call), (work) => setDue(work, result.issue, dueAt));
  return created({ due_date: dueAt === null ? null : new Date(dueAt).toISOString().replace(/\.\d{3}/, '') });
}

/** Parses the filters that all lists of issues share. */
function parseFilter(query: URLSearchParams): Omit<IssueQuery, 'scope' | 'limit' | 'offset'> {
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
    searchText: query.get('q') ?? '',
    labels: list('labels'),
    milestones: list('milestones'),
    since: parseTime(query.get('since')),
    before: parseTime(query.get('before')),
  };
}

function getQueryText(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name);
  return text === null || text === '' ? undefined : text;
}
