import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import { setAssignees, setBody, setClosed, setDue, setLabels, setMilestone, setTitle } from '../../issues/changes.ts';
import { requireUnblocked } from '../../issues/dependencies.ts';
import { issueSorts, type IssueSort } from '../../issues/issues.ts';
import { addEntry } from '../../issues/writer.ts';
import { isPull } from '../../pulls/pulls.ts';
import type { PullHead } from '../../pulls/pulls.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import {
  getAccount,
  readJsonBody,
  created,
  ok,
  optional,
  required,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from '../call.ts';
import { parseClosedState, resolveLabelIds, resolveMilestone } from '../issues/fields.ts';
import { resolveAccounts, mayWrite, requireAuthor, requireNotArchived, parseTime } from '../issues/issue-access.ts';
import { listHeaders, parsePage } from '../paging.ts';
import { getRepositoryName } from '../repository-requests.ts';
import { getPull, readPullJson, pullsJson } from './pull-views.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<
  RouteDependencies,
  'context' | 'settings' | 'storage' | 'accessControl' | 'collaboration' | 'features'
>;

const labels = optional(z.array(z.union([z.int(), z.string()])));
const pullBody = z.object({
  title: required.max(255, 'MaxSize'),
  body: optional(z.string()),
  head: required,
  base: required,
  assignee: optional(z.string()),
  assignees: optional(z.array(z.string())),
  labels,
  milestone: optional(z.int()),
  due_date: optional(z.string()),
});
const changeBody = z.object({
  title: optional(z.string()),
  body: optional(z.string()),
  base: optional(z.string()),
  assignee: optional(z.string()),
  assignees: optional(z.array(z.string())),
  labels,
  milestone: optional(z.int()),
  state: optional(z.string()),
  due_date: optional(z.string()),
  unset_due_date: optional(z.boolean()),
  allow_maintainer_edit: optional(z.boolean()),
});

/** Builds the routes of pull requests. */
export function pullRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/commits/:sha/pull', 'repository', (call) => readPullOfCommit(deps, call)),
    route('GET', '/repos/:owner/:repo/pulls', 'repository', (call) => listPulls(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/pulls', 'repository', (call) => createPull(deps, call)),
    route('GET', '/repos/:owner/:repo/pulls/:index', 'repository', async (call) =>
      ok(await readPullJson(deps, call, await getPull(deps, call))),
    ),
    signedInRoute('PATCH', '/repos/:owner/:repo/pulls/:index', 'repository', (call) => changePull(deps, call)),
    route('GET', '/repos/:owner/:repo/pulls/:base/*head', 'repository', (call) => findPullByBranches(deps, call)),
  ];
}

async function getRepository({ accessControl: { lookup } }: Dependencies, call: Call) {
  const [owner, name] = getRepositoryName(call);
  const result = await lookup.find(call.caller, owner, name);
  if (result === undefined) throw buildNotFoundProblem();
  return result;
}

/** Returns the name of an owner's fork of a repository. */
async function findForkName(
  { features: { forks }, storage: { repositories } }: Dependencies,
  repository: Repository,
  owner: string,
): Promise<string | undefined> {
  const copies = await Promise.all((await forks.listForkIds(repository.id)).map((id) => repositories.findById(id)));
  return copies.find((copy) => copy?.owner.toLowerCase() === owner.toLowerCase())?.name;
}

/** Returns true for the same repository and for a fork and its parent. */
async function areRelated({ features: { forks } }: Dependencies, one: Repository, other: Repository): Promise<boolean> {
  return (
    one.id === other.id ||
    (await forks.listForkIds(one.id)).includes(other.id) ||
    (await forks.listForkIds(other.id)).includes(one.id)
  );
}

/** Resolves `dev`, `user:dev` or `user/repository:dev` to a branch that the caller may read. @throws Problem (404) */
async function getHead(deps: Dependencies, call: Call, repository: Repository, text: string): Promise<PullHead> {
  const { lookup } = deps.accessControl;
  const { pulls } = deps.collaboration;
  const [, qualifier, branch = ''] = /^(?:([^:]+):)?(.+)$/.exec(text) ?? [];
  const [owner = '', name] = qualifier?.split('/', 2) ?? [repository.owner, repository.name];
  const from = await lookup.find(
    call.caller,
    owner,
    name ?? (await findForkName(deps, repository, owner)) ?? repository.name,
  );
  const isKin = from !== undefined && (await areRelated(deps, repository, from.repository));
  const commit = isKin ? await pulls.findBranch(from.repository, branch) : undefined;
  if (from === undefined || commit === undefined)
    throw new Problem('git.unknown', 404, `ref "${branch}" does not exist`);
  return { repository: from.repository, branch, commit };
}

async function readPullOfCommit(deps: Dependencies, call: Call): Promise<Answer> {
  const { issues } = deps.collaboration;
  const context = await getRepository(deps, call);
  const sha = call.params['sha'] ?? '';
  const row = await deps.storage.db
    .selectFrom('pulls')
    .innerJoin('issues', 'issues.id', 'pulls.issue_id')
    .select('issues.id')
    .where('issues.repository_id', '=', context.repository.id)
    .where('pulls.merged_commit', '=', sha)
    .executeTakeFirst();
  const issue = row && (await issues.findById(row.id));
  if (issue === undefined || !isPull(issue)) throw buildNotFoundProblem();
  return ok((await pullsJson(deps, call, context, [issue]))[0]);
}

async function listPulls(deps: Dependencies, call: Call): Promise<Answer> {
  const { issues } = deps.collaboration;
  const context = await getRepository(deps, call);
  const { query } = call;
  const page = parsePage(query);
  const state = query.get('state');
  const sort = issueSorts.find((each): each is IssueSort => each === query.get('sort'));
  const ids = query
    .getAll('labels')
    .flatMap((text) => text.split(','))
    .filter((text) => /^\d{1,15}$/.test(text));
  const milestone = query.get('milestone') ?? '';
  const poster = query.get('poster') ?? '';
  const result = await issues.list({
    scope: context.repository.id,
    pull: true,
    closed: state === 'all' ? undefined : state === 'closed',
    labelIds: ids.map(Number),
    milestones: milestone === '' || milestone === '0' ? [] : [milestone],
    author: poster === '' ? undefined : poster,
    headOrBase: query.has('base_branch') ? ['', query.get('base_branch') ?? ''] : undefined,
    sort,
    ...page,
  });
  return ok(await pullsJson(deps, call, context, result.issues.filter(isPull)), listHeaders(call, page, result.total));
}

async function createPull(deps: Dependencies, call: Call): Promise<Answer> {
  const { issues, pulls } = deps.collaboration;
  const context = await getRepository(deps, call);
  const { repository, level } = context;
  requireNotArchived(repository);
  const input = await readJsonBody(call, pullBody);
  const head = await getHead(deps, call, repository, input.head);
  if (head.repository.id === repository.id && head.branch === input.base) {
    throw new Problem('git.invalid', 422, 'Invalid PullRequest: There are no changes between the head and the base');
  }
  const mayEditFields = mayWrite(level);
  const names = input.assignees ?? ((input.assignee ?? '') === '' ? [] : [input.assignee ?? '']);
  const number = await pulls.create(repository, getAccount(call), head, input.base, {
    title: input.title,
    body: input.body ?? '',
    assignees: mayEditFields ? await resolveAccounts(deps, names) : [],
    labels: mayEditFields ? await resolveLabelIds(deps.storage, repository, input.labels ?? []) : [],
    milestone: mayEditFields ? await resolveMilestone(deps.storage, repository, input.milestone) : undefined,
    dueAt: mayEditFields ? parseTime(input.due_date) : undefined,
  });
  const issue = await issues.find(repository.id, number);
  if (issue === undefined || !isPull(issue)) throw buildNotFoundProblem();
  return created(await readPullJson(deps, call, { ...context, issue }));
}

async function changePull(deps: Dependencies, call: Call): Promise<Answer> {
  const { pulls, writer } = deps.collaboration;
  const context = await getPull(deps, call);
  const { issue, level, repository } = context;
  requireAuthor(call, context);
  const input = await readJsonBody(call, changeBody);
  const mayEditFields = mayWrite(level);
  const closed = parseClosedState(input.state);
  if (closed === false && issue.request.merged_commit !== null) {
    throw new Problem('git.merged', 412, 'cannot change state of this pull request, it was already merged');
  }
  const base = input.base === '' || input.base === issue.request.base_branch ? undefined : input.base;
  if (base !== undefined && (await pulls.findBranch(repository, base)) === undefined) {
    throw new Problem('git.unknown', 404, 'new base branch not exist');
  }
  // Clients send no assignee and milestone 0 when they change something else.
  const assigneeNames = input.assignees ?? ((input.assignee ?? '') === '' ? undefined : [input.assignee ?? '']);
  const assignees =
    mayEditFields && assigneeNames !== undefined ? await resolveAccounts(deps, assigneeNames) : undefined;
  const labelIds =
    mayEditFields && input.labels !== undefined
      ? await resolveLabelIds(deps.storage, repository, input.labels)
      : undefined;
  const milestone =
    mayEditFields && input.milestone !== 0
      ? await resolveMilestone(deps.storage, repository, input.milestone)
      : undefined;
  const dueAt = input.unset_due_date === true ? null : parseTime(input.due_date);
  const title = input.title?.trim() ?? '';
  if (title.length > 255) throw new Problem('git.invalid', 422, '[Title]: MaxSize');
  await writer.run(repository, getAccount(call), async (work) => {
    if (title !== '') await setTitle(work, issue, title);
    if (input.body !== undefined) await setBody(work, issue, input.body);
    if (base !== undefined) {
      await work.db.updateTable('pulls').set({ base_branch: base }).where('issue_id', '=', issue.id).execute();
      await addEntry(work, issue.id, 'change_target_branch', { before: issue.request.base_branch, after: base });
      work.events.push({ event: 'pull_request', action: 'edited', issue: issue.id });
    }
    if (input.allow_maintainer_edit !== undefined)
      await work.db
        .updateTable('pulls')
        .set({ maintainer_edit: Number(input.allow_maintainer_edit) })
        .where('issue_id', '=', issue.id)
        .execute();
    if (mayEditFields && dueAt !== undefined) await setDue(work, issue, dueAt);
    if (assignees !== undefined) await setAssignees(work, issue, assignees);
    if (labelIds !== undefined) await setLabels(work, issue, labelIds);
    if (milestone !== undefined) await setMilestone(work, issue, milestone);
    if (closed === true) await requireUnblocked(work.db, issue.id);
    if (closed !== undefined) await setClosed(work, issue, closed);
  });
  return created(await readPullJson(deps, call, context));
}

async function findPullByBranches(deps: Dependencies, call: Call): Promise<Answer> {
  const { issues } = deps.collaboration;
  const context = await getRepository(deps, call);
  const { base = '', head = '' } = call.params;
  const branch = head.slice(head.indexOf(':') + 1);
  const result = await issues.list({
    scope: context.repository.id,
    pull: true,
    headOrBase: [branch, base],
    limit: 1,
    offset: 0,
  });
  const [json] = await pullsJson(deps, call, context, result.issues.filter(isPull));
  if (json === undefined) throw buildNotFoundProblem();
  return ok(json);
}
