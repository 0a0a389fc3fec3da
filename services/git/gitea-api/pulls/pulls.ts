import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import { setAssignees, setBody, setClosed, setDue, setLabels, setMilestone, setTitle } from '../../issues/changes.ts';
import { needUnblocked } from '../../issues/dependencies.ts';
import { issueSorts, type IssueSort } from '../../issues/issues.ts';
import { addEntry } from '../../issues/writer.ts';
import { isPull } from '../../pulls/pulls.ts';
import type { Head } from '../../pulls/pulls.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import {
  accountOf,
  bodyOf,
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
import { isClosedState, labelIdsOf, milestoneOf } from '../issues/fields.ts';
import { accountsNamed, mayWrite, needAuthor, needOpen, timeAt } from '../issues/issue-access.ts';
import { listHeaders, pageOf } from '../paging.ts';
import { named } from '../api-dependencies.ts';
import { pullAt, pullNow, pullsJson, type PullRestParts } from './pull-views.ts';

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

/** Pull requests: made, found, read and changed. */
export function pullRoutes(parts: PullRestParts): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/commits/:sha/pull', 'repository', (call) => readPullOfCommit(parts, call)),
    route('GET', '/repos/:owner/:repo/pulls', 'repository', (call) => listPulls(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/pulls', 'repository', (call) => createPull(parts, call)),
    route('GET', '/repos/:owner/:repo/pulls/:index', 'repository', async (call) =>
      ok(await pullNow(parts, call, await pullAt(parts, call))),
    ),
    signedInRoute('PATCH', '/repos/:owner/:repo/pulls/:index', 'repository', (call) => changePull(parts, call)),
    route('GET', '/repos/:owner/:repo/pulls/:base/*head', 'repository', (call) => findPullByBranches(parts, call)),
  ];
}

async function getRepository({ lookup }: PullRestParts, call: Call) {
  const [owner, name] = named(call);
  const found = await lookup.find(call.visitor, owner, name);
  if (found === undefined) throw unknown();
  return found;
}

/** What somebody calls his copy of a repository. */
async function findForkName(
  { forks, repositories }: PullRestParts,
  repository: Repository,
  owner: string,
): Promise<string | undefined> {
  const copies = await Promise.all((await forks.of(repository.id)).map((id) => repositories.byId(id)));
  return copies.find((copy) => copy?.owner.toLowerCase() === owner.toLowerCase())?.name;
}

/** They are the same, or one is a copy of the other. */
async function areRelated({ forks }: PullRestParts, one: Repository, other: Repository): Promise<boolean> {
  return (
    one.id === other.id || (await forks.of(one.id)).includes(other.id) || (await forks.of(other.id)).includes(one.id)
  );
}

/** The branch that `dev`, `user:dev` or `user/repository:dev` names, as far as the caller may read it. */
async function getHead(parts: PullRestParts, call: Call, repository: Repository, text: string): Promise<Head> {
  const { lookup, pulls } = parts;
  const [, place, branch = ''] = /^(?:([^:]+):)?(.+)$/.exec(text) ?? [];
  const [owner = '', name] = place?.split('/', 2) ?? [repository.owner, repository.name];
  const from = await lookup.find(
    call.visitor,
    owner,
    name ?? (await findForkName(parts, repository, owner)) ?? repository.name,
  );
  const isKin = from !== undefined && (await areRelated(parts, repository, from.repository));
  const commit = isKin ? await pulls.branch(from.repository, branch) : undefined;
  if (from === undefined || commit === undefined)
    throw new Problem('git.unknown', 404, `ref "${branch}" does not exist`);
  return { repository: from.repository, branch, commit };
}

async function readPullOfCommit(parts: PullRestParts, call: Call): Promise<Answer> {
  const { issues } = parts;
  const place = await getRepository(parts, call);
  const sha = call.params['sha'] ?? '';
  const row = await parts.db
    .selectFrom('pulls')
    .innerJoin('issues', 'issues.id', 'pulls.issue_id')
    .select('issues.id')
    .where('issues.repository_id', '=', place.repository.id)
    .where('pulls.merged_commit', '=', sha)
    .executeTakeFirst();
  const issue = row && (await issues.byId(row.id));
  if (issue === undefined || !isPull(issue)) throw unknown();
  return ok((await pullsJson(parts, call, place, [issue]))[0]);
}

async function listPulls(parts: PullRestParts, call: Call): Promise<Answer> {
  const { issues } = parts;
  const place = await getRepository(parts, call);
  const { query } = call;
  const page = pageOf(query);
  const state = query.get('state');
  const sort = issueSorts.find((each): each is IssueSort => each === query.get('sort'));
  const ids = query
    .getAll('labels')
    .flatMap((text) => text.split(','))
    .filter((text) => /^\d{1,15}$/.test(text));
  const milestone = query.get('milestone') ?? '';
  const poster = query.get('poster') ?? '';
  const found = await issues.list({
    in: place.repository.id,
    pull: true,
    closed: state === 'all' ? undefined : state === 'closed',
    labelIds: ids.map(Number),
    milestones: milestone === '' || milestone === '0' ? [] : [milestone],
    author: poster === '' ? undefined : poster,
    headOrBase: query.has('base_branch') ? ['', query.get('base_branch') ?? ''] : undefined,
    sort,
    ...page,
  });
  return ok(await pullsJson(parts, call, place, found.issues.filter(isPull)), listHeaders(call, page, found.total));
}

async function createPull(parts: PullRestParts, call: Call): Promise<Answer> {
  const { issues, pulls } = parts;
  const place = await getRepository(parts, call);
  const { repository, level } = place;
  needOpen(repository);
  const asked = await bodyOf(call, pullBody);
  const head = await getHead(parts, call, repository, asked.head);
  if (head.repository.id === repository.id && head.branch === asked.base) {
    throw new Problem('git.invalid', 422, 'Invalid PullRequest: There are no changes between the head and the base');
  }
  const isOurs = mayWrite(level);
  const names = asked.assignees ?? ((asked.assignee ?? '') === '' ? [] : [asked.assignee ?? '']);
  const number = await pulls.create(repository, accountOf(call), head, asked.base, {
    title: asked.title,
    body: asked.body ?? '',
    assignees: isOurs ? await accountsNamed(parts, names) : [],
    labels: isOurs ? await labelIdsOf(parts, repository, asked.labels ?? []) : [],
    milestone: isOurs ? await milestoneOf(parts, repository, asked.milestone) : undefined,
    dueAt: isOurs ? timeAt(asked.due_date) : undefined,
  });
  const issue = await issues.find(repository.id, number);
  if (issue === undefined || !isPull(issue)) throw unknown();
  return created(await pullNow(parts, call, { ...place, issue }));
}

async function changePull(parts: PullRestParts, call: Call): Promise<Answer> {
  const { pulls, writer } = parts;
  const place = await pullAt(parts, call);
  const { issue, level, repository } = place;
  needAuthor(call, place);
  const asked = await bodyOf(call, changeBody);
  const isOurs = mayWrite(level);
  const closed = isClosedState(asked.state);
  if (closed === false && issue.request.merged_commit !== null) {
    throw new Problem('git.merged', 412, 'cannot change state of this pull request, it was already merged');
  }
  const base = asked.base === '' || asked.base === issue.request.base_branch ? undefined : asked.base;
  if (base !== undefined && (await pulls.branch(repository, base)) === undefined) {
    throw new Problem('git.unknown', 404, 'new base branch not exist');
  }
  // Clients name nobody, and milestone 0, where they change something else.
  const named = asked.assignees ?? ((asked.assignee ?? '') === '' ? undefined : [asked.assignee ?? '']);
  const assignees = isOurs && named !== undefined ? await accountsNamed(parts, named) : undefined;
  const labelled = isOurs && asked.labels !== undefined ? await labelIdsOf(parts, repository, asked.labels) : undefined;
  const milestone = isOurs && asked.milestone !== 0 ? await milestoneOf(parts, repository, asked.milestone) : undefined;
  const dueAt = asked.unset_due_date === true ? null : timeAt(asked.due_date);
  const title = asked.title?.trim() ?? '';
  if (title.length > 255) throw new Problem('git.invalid', 422, '[Title]: MaxSize');
  await writer.run(repository, accountOf(call), async (work) => {
    if (title !== '') await setTitle(work, issue, title);
    if (asked.body !== undefined) await setBody(work, issue, asked.body);
    if (base !== undefined) {
      await work.db.updateTable('pulls').set({ base_branch: base }).where('issue_id', '=', issue.id).execute();
      await addEntry(work, issue.id, 'change_target_branch', { before: issue.request.base_branch, after: base });
      work.events.push({ event: 'pull_request', action: 'edited', issue: issue.id });
    }
    if (asked.allow_maintainer_edit !== undefined)
      await work.db
        .updateTable('pulls')
        .set({ maintainer_edit: Number(asked.allow_maintainer_edit) })
        .where('issue_id', '=', issue.id)
        .execute();
    if (isOurs && dueAt !== undefined) await setDue(work, issue, dueAt);
    if (assignees !== undefined) await setAssignees(work, issue, assignees);
    if (labelled !== undefined) await setLabels(work, issue, labelled);
    if (milestone !== undefined) await setMilestone(work, issue, milestone);
    if (closed === true) await needUnblocked(work.db, issue.id);
    if (closed !== undefined) await setClosed(work, issue, closed);
  });
  return created(await pullNow(parts, call, place));
}

async function findPullByBranches(parts: PullRestParts, call: Call): Promise<Answer> {
  const { issues } = parts;
  const place = await getRepository(parts, call);
  const { base = '', head = '' } = call.params;
  const branch = head.slice(head.indexOf(':') + 1);
  const found = await issues.list({
    in: place.repository.id,
    pull: true,
    headOrBase: [branch, base],
    limit: 1,
    offset: 0,
  });
  const [json] = await pullsJson(parts, call, place, found.issues.filter(isPull));
  if (json === undefined) throw unknown();
  return ok(json);
}
