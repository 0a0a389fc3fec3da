import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import type { Issue } from '../../issues/issues.ts';
import { TrackedTimes } from '../../issues/tracked-times.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { TrackedTimeRow } from '../../store/issue-relations.ts';
import { issueJson } from '../../wire/issues.ts';
import { timeOf } from '../../wire/time.ts';
import {
  accountOf,
  bodyOf,
  needIdentity,
  noContent,
  ok,
  optional,
  type Answer,
  type Call,
  type Route,
} from '../call.ts';
import { listHeaders, numberOf, pageOf, partOf } from '../paging.ts';
import { placeOf } from '../api-dependencies.ts';
import {
  issueAt,
  mayWrite,
  namesIn,
  needOpen,
  peopleOf,
  repositoryAt,
  timeAt,
  type IssueParts,
  type IssuePlace,
} from './issue-access.ts';

const mostSeconds = 100 * 365 * 24 * 3600;
const timeBody = z.object({
  time: z.int().min(1).max(mostSeconds),
  created: optional(z.string()),
  user_name: optional(z.string()),
});
const issuePath = '/repos/:owner/:repo/issues/:index';

/** Time spent on issues, noted by hand or by a stopwatch. */
export function timeRoutes(parts: IssueParts): readonly Route[] {
  return [
    timeRoute('GET', `${issuePath}/times`, (call) => listIssueTimes(parts, call)),
    timeRoute('POST', `${issuePath}/times`, (call) => addTime(parts, call)),
    timeRoute('DELETE', `${issuePath}/times`, (call) => resetTimes(parts, call)),
    timeRoute('DELETE', `${issuePath}/times/:id`, (call) => deleteTime(parts, call)),
    timeRoute('GET', '/repos/:owner/:repo/times', (call) => listRepositoryTimes(parts, call)),
    timeRoute('GET', '/repos/:owner/:repo/times/:user', (call) =>
      listRepositoryTimes(parts, call, call.params['user']),
    ),
    timeRoute('GET', '/user/times', (call) => listOwnTimes(parts, call), 'user'),
    timeRoute('POST', `${issuePath}/stopwatch/start`, (call) => startStopwatch(parts, call)),
    timeRoute('POST', `${issuePath}/stopwatch/stop`, (call) => stopStopwatch(parts, call)),
    timeRoute('DELETE', `${issuePath}/stopwatch/delete`, (call) => cancelStopwatch(parts, call)),
    timeRoute('GET', '/user/stopwatches', (call) => listStopwatches(parts, call), 'user'),
  ];
}

async function getAccountName({ owners }: IssueParts, name: string): Promise<string> {
  const row = await owners.find(name);
  if (row?.kind !== 'account') throw unknown();
  return row.name;
}

/** Those who may write see everybody's, the others their own. */
async function getTimesAccount(
  parts: IssueParts,
  call: Call,
  { level }: IssuePlace,
  asked = call.query.get('user') ?? '',
) {
  const account = accountOf(call);
  const wanted = asked === '' ? undefined : await getAccountName(parts, asked);
  if (mayWrite(level)) return wanted;
  if (wanted !== undefined && wanted !== account)
    throw new Problem('git.forbidden', 403, 'query by user not allowed; not enough rights');
  return account;
}

function parseTimeRange({ query }: Call) {
  return { since: timeAt(query.get('since')), before: timeAt(query.get('before')) };
}

/** Rows with their issues, of which the caller may see all. */
async function timesJson(parts: IssueParts, call: Call, rows: readonly TrackedTimeRow[]) {
  const { issues, owners, repositories } = parts;
  const found = new Map<number, { readonly issue: Issue; readonly repository: Repository }>();
  for (const id of new Set(rows.map(({ issue_id }) => issue_id))) {
    const one = await issues.byId(id);
    const repository = one && (await repositories.byId(one.repository_id));
    if (one !== undefined && repository !== undefined) found.set(id, { issue: one, repository });
  }
  const people = await peopleOf(parts, call, namesIn([...found.values()].map((each) => each.issue)));
  const ids = new Map<string, number>();
  for (const name of new Set(rows.map(({ account }) => account))) ids.set(name, (await owners.find(name))?.id ?? -1);
  return rows.flatMap(({ id, account, seconds, created_at, issue_id }) => {
    const of = found.get(issue_id);
    if (of === undefined) return [];
    return [
      {
        ...{
          id,
          created: timeOf(created_at),
          time: seconds,
          user_id: ids.get(account),
          user_name: account,
          issue_id,
        },
        issue: issueJson(of.issue, of.repository, placeOf(call, of.repository), people),
      },
    ];
  });
}

async function listPage(parts: IssueParts, call: Call, all: readonly TrackedTimeRow[]): Promise<Answer> {
  const page = pageOf(call.query);
  return ok(await timesJson(parts, call, partOf(all, page)), listHeaders(call, page, all.length));
}

/** Who may write to the repository, or whom the issue is given to. */
async function getTrackableIssue(parts: IssueParts, call: Call) {
  const place = await issueAt(parts, call);
  needOpen(place.repository);
  if (mayWrite(place.level) || place.issue.assignees.includes(accountOf(call))) return place;
  throw new Problem('git.forbidden', 403, 'This account may not track time in this repository.');
}

async function listRepositoryTimes(parts: IssueParts, call: Call, user?: string): Promise<Answer> {
  const { context } = parts;
  const times = new TrackedTimes(context);

  const place = await repositoryAt(parts, call);
  const account = await getTimesAccount(parts, call, place, user);
  return listPage(parts, call, await times.list({ repository: place.repository.id, account, ...parseTimeRange(call) }));
}

function timeRoute(
  method: Route['method'],
  path: string,
  handle: Route['handle'],
  scope: Route['scope'] = 'issue',
): Route {
  return { method, path, scope, signedIn: true, handle };
}

async function listIssueTimes(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const times = new TrackedTimes(context);

  const place = await issueAt(parts, call);
  const account = await getTimesAccount(parts, call, place);
  return listPage(parts, call, await times.list({ issue: place.issue.id, account, ...parseTimeRange(call) }));
}

async function addTime(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const times = new TrackedTimes(context);

  const place = await getTrackableIssue(parts, call);
  const { time, created, user_name: name = '' } = await bodyOf(call, timeBody);
  const account = name === '' ? accountOf(call) : await getAccountName(parts, name);
  if (account !== accountOf(call) && place.level !== 'admin')
    throw new Problem('git.forbidden', 403, 'Time of others is noted by who runs the repository.');
  const row = await times.add(place.issue.id, account, time, timeAt(created));
  return ok((await timesJson(parts, call, [row]))[0]);
}

async function resetTimes(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const times = new TrackedTimes(context);

  const place = await getTrackableIssue(parts, call);
  if (!(await times.removeOf(place.issue.id, accountOf(call)))) throw unknown();
  return noContent;
}

async function deleteTime(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const times = new TrackedTimes(context);

  const { issue: found, level } = await getTrackableIssue(parts, call);
  const id = numberOf(call.params['id']);
  const row = (await times.list({ issue: found.id })).find((each) => each.id === id);
  if (row === undefined) throw unknown();
  if (row.account !== accountOf(call) && level !== 'admin')
    throw new Problem('git.forbidden', 403, 'This time is of somebody else.');
  await times.remove(id);
  return noContent;
}

async function listOwnTimes(parts: IssueParts, call: Call): Promise<Answer> {
  const { access, context, issues, repositories } = parts;
  const times = new TrackedTimes(context);

  const rows = await times.list({ account: accountOf(call), ...parseTimeRange(call) });
  const seen = new Map<number, boolean>();
  for (const id of new Set(rows.map(({ issue_id }) => issue_id))) {
    const repository = await repositories.byId((await issues.byId(id))?.repository_id ?? 0);
    seen.set(id, repository !== undefined && (await access.may(call.visitor, repository, 'read')));
  }
  return listPage(
    parts,
    call,
    rows.filter(({ issue_id }) => seen.get(issue_id)),
  );
}

async function startStopwatch(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const times = new TrackedTimes(context);

  const place = await getTrackableIssue(parts, call);
  if (!(await times.start(place.issue.id, accountOf(call))))
    throw new Problem('git.stopwatch', 409, 'cannot start a stopwatch again if it already exists');
  return { status: 201 };
}

async function stopStopwatch(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const times = new TrackedTimes(context);

  const place = await getTrackableIssue(parts, call);
  if (!(await times.stop(place.issue.id, accountOf(call), { noted: true })))
    throw new Problem('git.stopwatch', 409, 'cannot stop a non-existent stopwatch');
  return { status: 201 };
}

async function cancelStopwatch(parts: IssueParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const times = new TrackedTimes(context);

  const place = await getTrackableIssue(parts, call);
  if (!(await times.stop(place.issue.id, accountOf(call), { noted: false })))
    throw new Problem('git.stopwatch', 409, 'cannot cancel a non-existent stopwatch');
  return noContent;
}

async function listStopwatches({ access, context, issues, repositories }: IssueParts, call: Call): Promise<Answer> {
  const times = new TrackedTimes(context);

  const running = await times.running(needIdentity(call.visitor).account);
  const one = running && (await issues.byId(running.issue_id));
  const repository = one && (await repositories.byId(one.repository_id));
  const isSeen = repository !== undefined && (await access.may(call.visitor, repository, 'read'));
  const page = pageOf(call.query);
  if (running === undefined || one === undefined || !isSeen) return ok([], listHeaders(call, page, 0));
  const seconds = Math.max(0, Math.round((context.clock.now() - running.begun_at) / 1000));
  const watch = {
    ...{ created: timeOf(running.begun_at), seconds, duration: durationOf(seconds) },
    ...{ issue_index: one.number, issue_title: one.title },
    ...{ repo_owner_name: repository.owner, repo_name: repository.name },
  };
  return ok(partOf([watch], page), listHeaders(call, page, 1));
}

/** As the peer writes it: `1 hour 5 minutes`, and seconds alone below a minute. */
function durationOf(seconds: number): string {
  const counted = (count: number, unit: string): readonly string[] =>
    count === 0 ? [] : [`${count} ${unit}${count === 1 ? '' : 's'}`];
  if (seconds < 60) return counted(seconds, 'second').join('');
  return [...counted(Math.floor(seconds / 3600), 'hour'), ...counted(Math.floor(seconds / 60) % 60, 'minute')].join(
    ' ',
  );
}
