import { Problem } from '../../../contracts/problem.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { NotificationRow } from '../../store/issue-tables.ts';
import { notificationJson } from '../../wire/notifications.ts';
import { getAccount, requireIdentity, ok, type Answer, type Call, type Route } from '../call.ts';
import { parseFlag, listHeaders, parseId, parsePage, getPageItems } from '../paging.ts';
import { getRepositoryAddress, toRepositoryView } from '../repository-requests.ts';
import type { Db } from '../../store/tables.ts';
import { getIssueRepository, parseTime } from './issue-access.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'collaboration'>;

/** States of a notification, stored and requested by these names. */
const states = ['unread', 'read', 'pinned'] as const;
type State = (typeof states)[number];
/** Maximum number of notifications read by one request. */
const maxRows = 1000;

/** Builds the routes of notifications about issues and pull requests. */
export function notificationRoutes(deps: Dependencies): readonly Route[] {
  return [
    notificationRoute('GET', '/notifications', (call) => listNotifications(deps, call)),
    notificationRoute('PUT', '/notifications', (call) => markNotifications(deps, call)),
    notificationRoute('GET', '/notifications/new', async (call) =>
      ok({ new: (await findRows(deps, call, ['unread'])).length }),
    ),
    notificationRoute('GET', '/notifications/threads/:id', async (call) =>
      ok((await notificationsJson(deps, call, [await getThread(deps, call)]))[0]),
    ),
    notificationRoute('PATCH', '/notifications/threads/:id', (call) => changeThread(deps, call)),
    notificationRoute('GET', '/repos/:owner/:repo/notifications', async (call) =>
      listNotifications(deps, call, (await getIssueRepository(deps.accessControl, call)).repository.id),
    ),
    notificationRoute('PUT', '/repos/:owner/:repo/notifications', async (call) =>
      markNotifications(deps, call, (await getIssueRepository(deps.accessControl, call)).repository.id),
    ),
  ];
}

/** Returns notifications of repositories that the caller may still read. */
async function findRows(
  { accessControl: { access }, storage: { db, repositories } }: Dependencies,
  call: Call,
  requested: readonly State[],
  repository?: number,
): Promise<NotificationRow[]> {
  const { account } = requireIdentity(call.caller);
  const visibility = await access.getVisibility(call.caller);
  const { query } = call;
  let rows = db
    .selectFrom('issue_notifications')
    .innerJoin('issues', 'issues.id', 'issue_notifications.issue_id')
    .selectAll('issue_notifications')
    .where('issue_notifications.account', '=', account)
    .where('issue_notifications.state', 'in', [...requested])
    .where('issues.repository_id', 'in', repositories.selectIds({ visibility }));
  if (repository !== undefined) rows = rows.where('issues.repository_id', '=', repository);
  const types = query.getAll('subject-type').flatMap((text) => text.split(','));
  if (types.length === 1) rows = rows.where('issues.pull', '=', Number(types[0]?.toLowerCase() === 'pull'));
  const [since, before] = [parseTime(query.get('since')), parseTime(query.get('before'))];
  if (since !== undefined) rows = rows.where('issue_notifications.updated_at', '>=', since);
  if (before !== undefined) rows = rows.where('issue_notifications.updated_at', '<=', before);
  return rows
    .orderBy('issue_notifications.updated_at', 'desc')
    .orderBy('issue_notifications.id', 'desc')
    .limit(maxRows)
    .execute();
}

function parseStates({ query }: Call): readonly State[] {
  if (parseFlag(query, 'all') === true) return states;
  const stateFilter = query.getAll('status-types').flatMap((text) => text.split(','));
  const requested = states.filter((state) => stateFilter.includes(state));
  return requested.length > 0 ? requested : ['unread', 'pinned'];
}

async function notificationsJson(deps: Dependencies, call: Call, rows: readonly NotificationRow[]) {
  const { access } = deps.accessControl;
  const { issues } = deps.collaboration;
  const { repositories } = deps.storage;
  const views = new Map<number, unknown>();
  const items: unknown[] = [];
  for (const row of rows) {
    const issue = await issues.findById(row.issue_id);
    const repository = issue && (await repositories.findById(issue.repository_id));
    if (issue === undefined || repository === undefined) continue;
    const view =
      views.get(repository.id) ??
      (await toRepositoryView(deps, call, repository, await access.getLevel(call.caller, repository)));
    views.set(repository.id, view);
    items.push(notificationJson(row, issue, getRepositoryAddress(call, repository), view));
  }
  return items;
}

async function listNotifications(deps: Dependencies, call: Call, repository?: number): Promise<Answer> {
  const rows = await findRows(deps, call, parseStates(call), repository);
  const page = parsePage(call.query);
  return ok(await notificationsJson(deps, call, getPageItems(rows, page)), listHeaders(call, page, rows.length));
}

async function setState({ context }: Dependencies, rows: readonly NotificationRow[], state: State): Promise<void> {
  if (rows.length === 0) return;
  await context.commit((transaction: Db) =>
    transaction
      .updateTable('issue_notifications')
      .set({ state })
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      .execute(),
  );
}

async function markNotifications(deps: Dependencies, call: Call, repository?: number): Promise<Answer> {
  const to = states.find((state) => state === (call.query.get('to-status') ?? 'read'));
  if (to === undefined) throw new Problem('git.invalid', 400, 'unknown status');
  const last = parseTime(call.query.get('last_read_at')) ?? Number.MAX_SAFE_INTEGER;
  const stateFilter =
    call.query.has('status-types') || parseFlag(call.query, 'all') === true ? parseStates(call) : (['unread'] as const);
  const rows = (await findRows(deps, call, stateFilter, repository)).filter(({ updated_at }) => updated_at <= last);
  await setState(deps, rows, to);
  return {
    status: 205,
    json: await notificationsJson(
      deps,
      call,
      rows.map((row) => ({ ...row, state: to })),
    ),
  };
}

async function getThread(deps: Dependencies, call: Call): Promise<NotificationRow> {
  const { db } = deps.storage;
  const id = parseId(call.params['id']);
  const row = await db
    .selectFrom('issue_notifications')
    .selectAll()
    .where('id', '=', id)
    .where('account', '=', getAccount(call))
    .executeTakeFirst();
  const visibleRows = row === undefined ? [] : await findRows(deps, { ...call, query: new URLSearchParams() }, states);
  const items = visibleRows.find((each) => each.id === id);
  if (items === undefined) throw buildNotFoundProblem();
  return items;
}

function notificationRoute(method: Route['method'], path: string, handle: Route['handle']): Route {
  return {
    method,
    path,
    scope: 'notification',
    signedIn: true,
    handle,
  };
}

async function changeThread(deps: Dependencies, call: Call): Promise<Answer> {
  const to = states.find((state) => state === (call.query.get('to-status') ?? 'read'));
  if (to === undefined) throw new Problem('git.invalid', 400, 'unknown status');
  const row = await getThread(deps, call);
  await setState(deps, [row], to);
  return { status: 205, json: (await notificationsJson(deps, call, [{ ...row, state: to }]))[0] };
}
