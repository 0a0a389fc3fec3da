import { implement, type ApiHandler, type ApiRequest } from '../../contracts/api.ts';
import { gitOverviewApi, type GitTask } from '../../contracts/git/overview-api.ts';
import { readHistory } from '../repositories/history.ts';
import type { Sight } from '../repositories/repositories.ts';
import type { HookParts } from '../gitea-api/hooks.ts';
import type { PullRestParts } from '../gitea-api/pulls/pull-views.ts';
import { summary } from './routes.ts';
import { nobody } from '../sign-in/visitor.ts';
import { withTitles } from './event-titles.ts';
import { ownAccount } from './issues.ts';

const perPage = 50;
const few = { tasks: 20, pulls: 5 };
const all = { tasks: 500, pulls: 500 };

interface Tasks {
  readonly shown: GitTask[];
  /** So many others there are. */
  readonly more: number;
}

/** What of all repositories a person looks at first. */
export function overviewRoutes(parts: PullRestParts & Pick<HookParts, 'hooks'>): readonly ApiHandler[] {
  const { repositories } = parts;
  return [
    implement(gitOverviewApi.overview, async (asked) => {
      const account = ownAccount(asked);
      const sight = await getVisibility(parts, asked);
      const whose = { account, sight, most: asked.query.all ? all : few };
      const [recent, [last = null], reviews, assigned, hooks, pulls] = await Promise.all([
        repositories.list({ sight, sort: 'updated', descending: true, limit: 6, offset: 0 }),
        readHistory(parts, sight, { limit: 1 }),
        listTasks(parts, 'review_requests', whose),
        listTasks(parts, 'issue_assignees', whose),
        listFailingHooks(parts, sight),
        listOtherPulls(parts, account, sight, whose.most),
      ]);
      return {
        ...{ repositories: recent.total, recent: recent.repositories.map(summary), last },
        ...{ reviews: reviews.shown, assigned: assigned.shown, pulls: pulls.shown, failing: hooks },
        more: { reviews: reviews.more, assigned: assigned.more, pulls: pulls.more },
      };
    }),
    implement(gitOverviewApi.history, async ({ query, ...asked }) => {
      const before = query.before === undefined ? undefined : { time: query.before, id: query.beforeId };
      const [owner = '', name = ''] = query.repository.split('/', 2);
      // Of one that there is not nothing happened.
      const repository = query.repository === '' ? undefined : ((await repositories.find(owner, name))?.id ?? 0);
      const events = await readHistory(parts, await getVisibility(parts, asked), {
        repository,
        before,
        limit: perPage + 1,
      });
      return { events: [...(await withTitles(parts, events.slice(0, perPage)))], more: events.length > perPage };
    }),
  ];
}

async function getVisibility(
  parts: PullRestParts & Pick<HookParts, 'hooks'>,
  { identity }: Pick<ApiRequest<unknown, unknown>, 'identity'>,
): Promise<Sight> {
  ownAccount({ identity });
  return parts.access.sight({ ...nobody, identity });
}

/** Issues and pull requests that are open, by when something happened to them. */
function selectOpen({ db, repositories }: PullRestParts & Pick<HookParts, 'hooks'>, sight: Sight) {
  return db
    .selectFrom('issues')
    .innerJoin('repositories', 'repositories.id', 'issues.repository_id')
    .innerJoin('owners', 'owners.id', 'repositories.owner_id')
    .select([
      'owners.name as owner',
      'repositories.name as name',
      'number',
      'title',
      'author',
      'pull',
      'issues.updated_at',
    ])
    .where('issues.closed', '=', 0)
    .where('issues.repository_id', 'in', repositories.idsOf({ sight }))
    .orderBy('issues.updated_at', 'desc');
}

async function readTasks(
  parts: PullRestParts & Pick<HookParts, 'hooks'>,
  some: ReturnType<typeof selectOpen>,
  most: number,
): Promise<Tasks> {
  const [rows, counted] = await Promise.all([
    some.limit(most).execute(),
    some
      .clearSelect()
      .clearOrderBy()
      .select((is) => is.fn.countAll<number>().as('count'))
      .executeTakeFirst(),
  ]);
  const shown = rows.map(({ updated_at, pull, ...row }) => ({ ...row, pull: pull === 1, time: updated_at }));
  return { shown, more: Number(counted?.count ?? 0) - shown.length };
}

function selectIssueIds(
  { db }: PullRestParts & Pick<HookParts, 'hooks'>,
  table: 'review_requests' | 'issue_assignees',
  account: string,
) {
  return db.selectFrom(table).select('issue_id').where('account', '=', account);
}

/** Those of them that a table names this account for. */
function listTasks(
  parts: PullRestParts & Pick<HookParts, 'hooks'>,
  table: 'review_requests' | 'issue_assignees',
  { account, sight, most }: { readonly account: string; readonly sight: Sight; readonly most: typeof few },
): Promise<Tasks> {
  return readTasks(
    selectOpenpenOnes(parts, sight).where('issues.id', 'in', selectIssueIds(parts, table, account)),
    most.tasks,
  );
}

/** Pull requests besides those. */
function listOtherPulls(
  parts: PullRestParts & Pick<HookParts, 'hooks'>,
  account: string,
  sight: Sight,
  most: typeof few,
): Promise<Tasks> {
  return readTasks(
    parts,
    selectOpen(parts, sight)
      .where('pull', '=', 1)
      .where('issues.id', 'not in', selectIssueIds(parts, 'review_requests', account))
      .where('issues.id', 'not in', selectIssueIds(parts, 'issue_assignees', account)),
    most.pulls,
  );
}

/** Hooks of repositories that this account decides of, whose newest delivery failed. */
async function listFailingHooks(parts: PullRestParts & Pick<HookParts, 'hooks'>, sight: Sight) {
  const { db, repositories } = parts;

  const own: Sight = sight === 'all' ? 'all' : { ...sight, public: false as const, ids: [] };
  const rows = await db
    .selectFrom('webhooks')
    .innerJoin('repositories', 'repositories.id', 'webhooks.repository_id')
    .innerJoin('owners', 'owners.id', 'repositories.owner_id')
    .select(['owners.name as owner', 'repositories.name as name', 'webhooks.url'])
    .where('webhooks.active', '=', 1)
    .where('webhooks.repository_id', 'in', repositories.idsOf({ sight: own }))
    .where((is) =>
      is(
        is
          .selectFrom('hook_deliveries')
          .select('hook_deliveries.state')
          .whereRef('hook_deliveries.hook_id', '=', 'webhooks.id')
          .orderBy('hook_deliveries.created_at', 'desc')
          .limit(1),
        '=',
        'failed',
      ),
    )
    .limit(few.tasks)
    .execute();
  // The rest of an address may be a secret.
  return rows.map(({ url, ...row }) => ({ ...row, url: URL.parse(parts.hooks.address({ url }))?.origin ?? '' }));
}
