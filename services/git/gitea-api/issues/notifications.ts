import { Problem } from '../../../contracts/problem.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { NotificationRow } from '../../store/issue-tables.ts';
import { notificationJson } from '../../wire/notifications.ts';
import { accountOf, needIdentity, ok, type Answer, type Call, type Route } from '../call.ts';
import { flag, listHeaders, numberOf, pageOf, partOf } from '../paging.ts';
import { placeOf, shown, type Db } from '../api-dependencies.ts';
import { repositoryAt, timeAt, type IssueParts } from './issue-access.ts';

/** Stored as one of these; the peer's clients name them so, too. */
const states = ['unread', 'read', 'pinned'] as const;
type State = (typeof states)[number];
/** More are not looked at at once. */
const most = 1000;

/** What somebody has not looked at yet. */
export function notificationRoutes(parts: IssueParts): readonly Route[] {
  return [
    notificationRoute('GET', '/notifications', (call) => listNotifications(parts, call)),
    notificationRoute('PUT', '/notifications', (call) => markNotifications(parts, call)),
    notificationRoute('GET', '/notifications/new', async (call) =>
      ok({ new: (await findRows(parts, call, ['unread'])).length }),
    ),
    notificationRoute('GET', '/notifications/threads/:id', async (call) =>
      ok((await notificationsJson(parts, call, [await getThread(parts, call)]))[0]),
    ),
    notificationRoute('PATCH', '/notifications/threads/:id', (call) => changeThread(parts, call)),
    notificationRoute('GET', '/repos/:owner/:repo/notifications', async (call) =>
      listNotifications(parts, call, (await repositoryAt(parts, call)).repository.id),
    ),
    notificationRoute('PUT', '/repos/:owner/:repo/notifications', async (call) =>
      markNotifications(parts, call, (await repositoryAt(parts, call)).repository.id),
    ),
  ];
}

/** What he may not see any more is not told either. */
async function findRows(
  { access, db, repositories }: IssueParts,
  call: Call,
  wanted: readonly State[],
  repository?: number,
): Promise<NotificationRow[]> {
  const { account } = needIdentity(call.visitor);
  const sight = await access.sight(call.visitor);
  const { query } = call;
  let rows = db
    .selectFrom('issue_notifications')
    .innerJoin('issues', 'issues.id', 'issue_notifications.issue_id')
    .selectAll('issue_notifications')
    .where('issue_notifications.account', '=', account)
    .where('issue_notifications.state', 'in', [...wanted])
    .where('issues.repository_id', 'in', repositories.idsOf({ sight }));
  if (repository !== undefined) rows = rows.where('issues.repository_id', '=', repository);
  const types = query.getAll('subject-type').flatMap((text) => text.split(','));
  if (types.length === 1) rows = rows.where('issues.pull', '=', Number(types[0]?.toLowerCase() === 'pull'));
  const [since, before] = [timeAt(query.get('since')), timeAt(query.get('before'))];
  if (since !== undefined) rows = rows.where('issue_notifications.updated_at', '>=', since);
  if (before !== undefined) rows = rows.where('issue_notifications.updated_at', '<=', before);
  return rows
    .orderBy('issue_notifications.updated_at', 'desc')
    .orderBy('issue_notifications.id', 'desc')
    .limit(most)
    .execute();
}

function parseStates({ query }: Call): readonly State[] {
  if (flag(query, 'all') === true) return states;
  const asked = query.getAll('status-types').flatMap((text) => text.split(','));
  const wanted = states.filter((state) => asked.includes(state));
  return wanted.length > 0 ? wanted : ['unread', 'pinned'];
}

async function notificationsJson(parts: IssueParts, call: Call, rows: readonly NotificationRow[]) {
  const { access, issues, repositories } = parts;
  const views = new Map<number, unknown>();
  const found: unknown[] = [];
  for (const row of rows) {
    const issue = await issues.byId(row.issue_id);
    const repository = issue && (await repositories.byId(issue.repository_id));
    if (issue === undefined || repository === undefined) continue;
    const view =
      views.get(repository.id) ?? (await shown(parts, call, repository, await access.level(call.visitor, repository)));
    views.set(repository.id, view);
    found.push(notificationJson(row, issue, placeOf(call, repository), view));
  }
  return found;
}

async function listNotifications(parts: IssueParts, call: Call, repository?: number): Promise<Answer> {
  const rows = await findRows(parts, call, parseStates(call), repository);
  const page = pageOf(call.query);
  return ok(await notificationsJson(parts, call, partOf(rows, page)), listHeaders(call, page, rows.length));
}

async function setState({ context }: IssueParts, rows: readonly NotificationRow[], state: State): Promise<void> {
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

async function markNotifications(parts: IssueParts, call: Call, repository?: number): Promise<Answer> {
  const to = states.find((state) => state === (call.query.get('to-status') ?? 'read'));
  if (to === undefined) throw new Problem('git.invalid', 400, 'unknown status');
  const last = timeAt(call.query.get('last_read_at')) ?? Number.MAX_SAFE_INTEGER;
  const asked =
    call.query.has('status-types') || flag(call.query, 'all') === true ? parseStates(call) : (['unread'] as const);
  const rows = (await findRows(parts, call, asked, repository)).filter(({ updated_at }) => updated_at <= last);
  await setState(parts, rows, to);
  return {
    status: 205,
    json: await notificationsJson(
      parts,
      call,
      rows.map((row) => ({ ...row, state: to })),
    ),
  };
}

async function getThread(parts: IssueParts, call: Call): Promise<NotificationRow> {
  const { db } = parts;
  const id = numberOf(call.params['id']);
  const row = await db
    .selectFrom('issue_notifications')
    .selectAll()
    .where('id', '=', id)
    .where('account', '=', accountOf(call))
    .executeTakeFirst();
  const seen = row === undefined ? [] : await findRows(parts, { ...call, query: new URLSearchParams() }, states);
  const found = seen.find((each) => each.id === id);
  if (found === undefined) throw unknown();
  return found;
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

async function changeThread(parts: IssueParts, call: Call): Promise<Answer> {
  const to = states.find((state) => state === (call.query.get('to-status') ?? 'read'));
  if (to === undefined) throw new Problem('git.invalid', 400, 'unknown status');
  const row = await getThread(parts, call);
  await setState(parts, [row], to);
  return { status: 205, json: (await notificationsJson(parts, call, [{ ...row, state: to }]))[0] };
}
