import { Problem } from '../../../contracts/problem.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { NotificationRow } from '../../store/issue-tables.ts';
import { notificationJson } from '../../wire/notifications.ts';
import { accountOf, needIdentity, ok, type Answer, type Call, type Route } from '../call.ts';
import { flag, listHeaders, numberOf, pageOf, partOf } from '../paging.ts';
import { placeOf, shown } from '../api-dependencies.ts';
import { repositoryAt, timeAt, type IssueParts } from './issue-access.ts';

/** Stored as one of these; the peer's clients name them so, too. */
const states = ['unread', 'read', 'pinned'] as const;
type State = (typeof states)[number];
/** More are not looked at at once. */
const most = 1000;

/** What somebody has not looked at yet. */
export function notificationRoutes(parts: IssueParts): readonly Route[] {
  const { access, context, db, issues, repositories } = parts;

  /** What he may not see any more is not told either. */
  const rowsOf = async (call: Call, wanted: readonly State[], repository?: number): Promise<NotificationRow[]> => {
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
  };
  const statesOf = ({ query }: Call): readonly State[] => {
    if (flag(query, 'all') === true) return states;
    const asked = query.getAll('status-types').flatMap((text) => text.split(','));
    const wanted = states.filter((state) => asked.includes(state));
    return wanted.length > 0 ? wanted : ['unread', 'pinned'];
  };
  const json = async (call: Call, rows: readonly NotificationRow[]) => {
    const views = new Map<number, unknown>();
    const found: unknown[] = [];
    for (const row of rows) {
      const issue = await issues.byId(row.issue_id);
      const repository = issue && (await repositories.byId(issue.repository_id));
      if (issue === undefined || repository === undefined) continue;
      const view =
        views.get(repository.id) ??
        (await shown(parts, call, repository, await access.level(call.visitor, repository)));
      views.set(repository.id, view);
      found.push(notificationJson(row, issue, placeOf(call, repository), view));
    }
    return found;
  };
  const list = async (call: Call, repository?: number): Promise<Answer> => {
    const rows = await rowsOf(call, statesOf(call), repository);
    const page = pageOf(call.query);
    return ok(await json(call, partOf(rows, page)), listHeaders(call, page, rows.length));
  };
  const set = async (rows: readonly NotificationRow[], state: State): Promise<void> => {
    if (rows.length === 0) return;
    await context.commit((transaction: typeof db) =>
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
  };
  const mark = async (call: Call, repository?: number): Promise<Answer> => {
    const to = states.find((state) => state === (call.query.get('to-status') ?? 'read'));
    if (to === undefined) throw new Problem('git.invalid', 400, 'unknown status');
    const last = timeAt(call.query.get('last_read_at')) ?? Number.MAX_SAFE_INTEGER;
    const asked =
      call.query.has('status-types') || flag(call.query, 'all') === true ? statesOf(call) : (['unread'] as const);
    const rows = (await rowsOf(call, asked, repository)).filter(({ updated_at }) => updated_at <= last);
    await set(rows, to);
    return {
      status: 205,
      json: await json(
        call,
        rows.map((row) => ({ ...row, state: to })),
      ),
    };
  };
  const thread = async (call: Call): Promise<NotificationRow> => {
    const id = numberOf(call.params['id']);
    const row = await db
      .selectFrom('issue_notifications')
      .selectAll()
      .where('id', '=', id)
      .where('account', '=', accountOf(call))
      .executeTakeFirst();
    const seen = row === undefined ? [] : await rowsOf({ ...call, query: new URLSearchParams() }, states);
    const found = seen.find((each) => each.id === id);
    if (found === undefined) throw unknown();
    return found;
  };
  const route = (method: Route['method'], path: string, handle: Route['handle']): Route => ({
    method,
    path,
    scope: 'notification',
    signedIn: true,
    handle,
  });

  return [
    route('GET', '/notifications', (call) => list(call)),
    route('PUT', '/notifications', (call) => mark(call)),
    route('GET', '/notifications/new', async (call) => ok({ new: (await rowsOf(call, ['unread'])).length })),
    route('GET', '/notifications/threads/:id', async (call) => ok((await json(call, [await thread(call)]))[0])),
    route('PATCH', '/notifications/threads/:id', async (call) => {
      const to = states.find((state) => state === (call.query.get('to-status') ?? 'read'));
      if (to === undefined) throw new Problem('git.invalid', 400, 'unknown status');
      const row = await thread(call);
      await set([row], to);
      return { status: 205, json: (await json(call, [{ ...row, state: to }]))[0] };
    }),
    route('GET', '/repos/:owner/:repo/notifications', async (call) =>
      list(call, (await repositoryAt(parts, call)).repository.id),
    ),
    route('PUT', '/repos/:owner/:repo/notifications', async (call) =>
      mark(call, (await repositoryAt(parts, call)).repository.id),
    ),
  ];
}
