import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import type { Issue } from '../../issues/issues.ts';
import { TrackedTimes } from '../../issues/tracked-times.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { TrackedTimeRow } from '../../store/issue-relations.ts';
import { issueJson } from '../../wire/issues.ts';
import { formatTime } from '../../wire/time.ts';
import {
  getAccount,
  readJsonBody,
  requireIdentity,
  noContent,
  ok,
  optional,
  type Answer,
  type Call,
  type Route,
} from '../call.ts';
import { listHeaders, parseId, parsePage, getPageItems } from '../paging.ts';
import { getRepositoryAddress } from '../repository-requests.ts';
import { readUsers } from '../../wire/read-users.ts';
import { listAccountNames } from '../../issues/account-names.ts';
import {
  getIssue,
  mayWrite,
  requireNotArchived,
  getIssueRepository,
  parseTime,
  type IssueContext,
} from './issue-access.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'collaboration'>;

const maxSeconds = 100 * 365 * 24 * 3600;
const timeBody = z.object({
  time: z.int().min(1).max(maxSeconds),
  created: optional(z.string()),
  user_name: optional(z.string()),
});
const issuePath = '/repos/:owner/:repo/issues/:index';

/** Builds the routes of tracked times and stopwatches. */
export function timeRoutes(deps: Dependencies): readonly Route[] {
  return [
    timeRoute('GET', `${issuePath}/times`, (call) => listIssueTimes(deps, call)),
    timeRoute('POST', `${issuePath}/times`, (call) => addTime(deps, call)),
    timeRoute('DELETE', `${issuePath}/times`, (call) => resetTimes(deps, call)),
    timeRoute('DELETE', `${issuePath}/times/:id`, (call) => deleteTime(deps, call)),
    timeRoute('GET', '/repos/:owner/:repo/times', (call) => listRepositoryTimes(deps, call)),
    timeRoute('GET', '/repos/:owner/:repo/times/:user', (call) => listRepositoryTimes(deps, call, call.params['user'])),
    timeRoute('GET', '/user/times', (call) => listOwnTimes(deps, call), 'user'),
    timeRoute('POST', `${issuePath}/stopwatch/start`, (call) => startStopwatch(deps, call)),
    timeRoute('POST', `${issuePath}/stopwatch/stop`, (call) => stopStopwatch(deps, call)),
    timeRoute('DELETE', `${issuePath}/stopwatch/delete`, (call) => cancelStopwatch(deps, call)),
    timeRoute('GET', '/user/stopwatches', (call) => listStopwatches(deps, call), 'user'),
  ];
}

async function getAccountName({ storage: { owners } }: Dependencies, name: string): Promise<string> {
  const row = await owners.find(name);
  if (row?.kind !== 'account') throw buildNotFoundProblem();
  return row.name;
}

/** Returns the account to filter by. Without write access it is always the caller. */
async function getTimesAccount(
  deps: Dependencies,
  call: Call,
  { level }: IssueContext,
  input = call.query.get('user') ?? '',
) {
  const account = getAccount(call);
  const requested = input === '' ? undefined : await getAccountName(deps, input);
  if (mayWrite(level)) return requested;
  if (requested !== undefined && requested !== account)
    throw new Problem('git.forbidden', 403, 'query by user not allowed; not enough rights');
  return account;
}

function parseTimeRange({ query }: Call) {
  return { since: parseTime(query.get('since')), before: parseTime(query.get('before')) };
}

/** Converts rows to JSON with their issues, which must be readable by the caller. */
async function timesJson(deps: Dependencies, call: Call, rows: readonly TrackedTimeRow[]) {
  const { issues } = deps.collaboration;
  const { owners, repositories } = deps.storage;
  const result = new Map<number, { readonly issue: Issue; readonly repository: Repository }>();
  for (const id of new Set(rows.map(({ issue_id }) => issue_id))) {
    const one = await issues.findById(id);
    const repository = one && (await repositories.findById(one.repository_id));
    if (one !== undefined && repository !== undefined) result.set(id, { issue: one, repository });
  }
  const toUser = await readUsers(deps, call, listAccountNames([...result.values()].map((each) => each.issue)));
  const ids = new Map<string, number>();
  for (const name of new Set(rows.map(({ account }) => account))) ids.set(name, (await owners.find(name))?.id ?? -1);
  return rows.flatMap(({ id, account, seconds, created_at, issue_id }) => {
    const entry = result.get(issue_id);
    if (entry === undefined) return [];
    return [
      {
        id,
        created: formatTime(created_at),
        time: seconds,
        user_id: ids.get(account),
        user_name: account,
        issue_id,
        issue: issueJson(entry.issue, entry.repository, getRepositoryAddress(call, entry.repository), toUser),
      },
    ];
  });
}

async function listPage(deps: Dependencies, call: Call, all: readonly TrackedTimeRow[]): Promise<Answer> {
  const page = parsePage(call.query);
  return ok(await timesJson(deps, call, getPageItems(all, page)), listHeaders(call, page, all.length));
}

/** Returns the issue if the caller may write to the repository or is assigned. @throws Problem (403) */
async function getTrackableIssue(deps: Dependencies, call: Call) {
  const target = await getIssue(deps, call);
  requireNotArchived(target.repository);
  if (mayWrite(target.level) || target.issue.assignees.includes(getAccount(call))) return target;
  throw new Problem('git.forbidden', 403, 'This account cannot track time in this repository.');
}

async function listRepositoryTimes(deps: Dependencies, call: Call, user?: string): Promise<Answer> {
  const { context } = deps;
  const times = new TrackedTimes(context);

  const target = await getIssueRepository(deps.accessControl, call);
  const account = await getTimesAccount(deps, call, target, user);
  return listPage(deps, call, await times.list({ repository: target.repository.id, account, ...parseTimeRange(call) }));
}

function timeRoute(
  method: Route['method'],
  path: string,
  handle: Route['handle'],
  scope: Route['scope'] = 'issue',
): Route {
  return { method, path, scope, signedIn: true, handle };
}

async function listIssueTimes(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const times = new TrackedTimes(context);

  const target = await getIssue(deps, call);
  const account = await getTimesAccount(deps, call, target);
  return listPage(deps, call, await times.list({ issue: target.issue.id, account, ...parseTimeRange(call) }));
}

async function addTime(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const times = new TrackedTimes(context);

  const target = await getTrackableIssue(deps, call);
  const { time, created, user_name: name = '' } = await readJsonBody(call, timeBody);
  const account = name === '' ? getAccount(call) : await getAccountName(deps, name);
  if (account !== getAccount(call) && target.level !== 'admin')
    throw new Problem(
      'git.forbidden',
      403,
      'Only administrators of the repository can record time for other accounts.',
    );
  const row = await times.add(target.issue.id, account, time, parseTime(created));
  return ok((await timesJson(deps, call, [row]))[0]);
}

async function resetTimes(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const times = new TrackedTimes(context);

  const target = await getTrackableIssue(deps, call);
  if (!(await times.removeForAccount(target.issue.id, getAccount(call)))) throw buildNotFoundProblem();
  return noContent;
}

async function deleteTime(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const times = new TrackedTimes(context);

  const { issue: result, level } = await getTrackableIssue(deps, call);
  const id = parseId(call.params['id']);
  const row = (await times.list({ issue: result.id })).find((each) => each.id === id);
  if (row === undefined) throw buildNotFoundProblem();
  if (row.account !== getAccount(call) && level !== 'admin')
    throw new Problem('git.forbidden', 403, 'This time belongs to another account.');
  await times.remove(id);
  return noContent;
}

async function listOwnTimes(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { access } = deps.accessControl;
  const { issues } = deps.collaboration;
  const { repositories } = deps.storage;
  const times = new TrackedTimes(context);

  const rows = await times.list({ account: getAccount(call), ...parseTimeRange(call) });
  const visibilityByRepository = new Map<number, boolean>();
  for (const id of new Set(rows.map(({ issue_id }) => issue_id))) {
    const repository = await repositories.findById((await issues.findById(id))?.repository_id ?? 0);
    visibilityByRepository.set(
      id,
      repository !== undefined && (await access.hasLevel(call.caller, repository, 'read')),
    );
  }
  return listPage(
    deps,
    call,
    rows.filter(({ issue_id }) => visibilityByRepository.get(issue_id)),
  );
}

async function startStopwatch(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const times = new TrackedTimes(context);

  const target = await getTrackableIssue(deps, call);
  if (!(await times.start(target.issue.id, getAccount(call))))
    throw new Problem('git.stopwatch', 409, 'cannot start a stopwatch again if it already exists');
  return { status: 201 };
}

async function stopStopwatch(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const times = new TrackedTimes(context);

  const target = await getTrackableIssue(deps, call);
  if (!(await times.stop(target.issue.id, getAccount(call), { record: true })))
    throw new Problem('git.stopwatch', 409, 'cannot stop a non-existent stopwatch');
  return { status: 201 };
}

async function cancelStopwatch(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const times = new TrackedTimes(context);

  const target = await getTrackableIssue(deps, call);
  if (!(await times.stop(target.issue.id, getAccount(call), { record: false })))
    throw new Problem('git.stopwatch', 409, 'cannot cancel a non-existent stopwatch');
  return noContent;
}

async function listStopwatches(
  { accessControl: { access }, context, collaboration: { issues }, storage: { repositories } }: Dependencies,
  call: Call,
): Promise<Answer> {
  const times = new TrackedTimes(context);

  const running = await times.findStopwatch(requireIdentity(call.caller).account);
  const one = running && (await issues.findById(running.issue_id));
  const repository = one && (await repositories.findById(one.repository_id));
  const isSeen = repository !== undefined && (await access.hasLevel(call.caller, repository, 'read'));
  const page = parsePage(call.query);
  if (running === undefined || one === undefined || !isSeen) return ok([], listHeaders(call, page, 0));
  const seconds = Math.max(0, Math.round((context.clock.now() - running.begun_at) / 1000));
  const watch = {
    created: formatTime(running.begun_at),
    seconds,
    duration: formatDuration(seconds),
    issue_index: one.number,
    issue_title: one.title,
    repo_owner_name: repository.owner,
    repo_name: repository.name,
  };
  return ok(getPageItems([watch], page), listHeaders(call, page, 1));
}

/** Formats a duration like Gitea: `1 hour 5 minutes`, or seconds below a minute. */
function formatDuration(seconds: number): string {
  const formatCount = (count: number, unit: string): readonly string[] =>
    count === 0 ? [] : [`${count} ${unit}${count === 1 ? '' : 's'}`];
  if (seconds < 60) return formatCount(seconds, 'second').join('');
  return [
    ...formatCount(Math.floor(seconds / 3600), 'hour'),
    ...formatCount(Math.floor(seconds / 60) % 60, 'minute'),
  ].join(' ');
}
