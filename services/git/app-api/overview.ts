import { implement, type ApiHandler, type ApiRequest } from '../../contracts/api.ts';
import { gitOverviewApi, type GitTask } from '../../contracts/git/overview-api.ts';
import { readHistory } from '../repositories/history.ts';
import type { RepositoryVisibility } from '../repositories/repository-query.ts';
import { toSummary } from './routes.ts';
import { anonymousCaller } from '../sign-in/caller.ts';
import { withTitles } from './event-titles.ts';
import { getAccount } from './issues.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'storage' | 'accessControl' | 'webhooks'>;

const perPage = 50;
const defaultLimits = { tasks: 20, pulls: 5 };
const fullLimits = { tasks: 500, pulls: 500 };

interface TaskList {
  readonly items: GitTask[];
  /** Number of further tasks. */
  readonly more: number;
}

/** Builds the routes of the overview of all repositories. */
export function overviewRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { repositories } = deps.storage;
  return [
    implement(gitOverviewApi.overview, async (input) => {
      const account = getAccount(input);
      const visibility = await getVisibility(deps, input);
      const scope = { account, visibility, limits: input.query.all ? fullLimits : defaultLimits };
      const [recent, [last = null], reviews, assigned, hooks, pulls] = await Promise.all([
        repositories.list({ visibility, sort: 'updated', descending: true, limit: 6, offset: 0 }),
        readHistory(deps.storage, visibility, { limit: 1 }),
        listTasks(deps, 'review_requests', scope),
        listTasks(deps, 'issue_assignees', scope),
        listFailingHooks(deps, visibility),
        listOtherPulls(deps, account, visibility, scope.limits),
      ]);
      return {
        repositories: recent.total,
        recent: recent.repositories.map(toSummary),
        last,
        reviews: reviews.items,
        assigned: assigned.items,
        pulls: pulls.items,
        failing: hooks,
        more: { reviews: reviews.more, assigned: assigned.more, pulls: pulls.more },
      };
    }),
    implement(gitOverviewApi.history, async ({ query, ...input }) => {
      const before = query.before === undefined ? undefined : { time: query.before, id: query.beforeId };
      const [owner = '', name = ''] = query.repository.split('/', 2);
      // An unknown repository has no events.
      const repository = query.repository === '' ? undefined : ((await repositories.find(owner, name))?.id ?? 0);
      const events = await readHistory(deps.storage, await getVisibility(deps, input), {
        repository,
        before,
        limit: perPage + 1,
      });
      return { events: [...(await withTitles(deps.storage, events.slice(0, perPage)))], more: events.length > perPage };
    }),
  ];
}

async function getVisibility(
  deps: Dependencies,
  { identity }: Pick<ApiRequest<unknown, unknown>, 'identity'>,
): Promise<RepositoryVisibility> {
  getAccount({ identity });
  return deps.accessControl.access.getVisibility({ ...anonymousCaller, identity });
}

/** Selects open issues and pull requests, the most recently updated first. */
function selectOpen({ storage: { db, repositories } }: Dependencies, visibility: RepositoryVisibility) {
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
    .where('issues.repository_id', 'in', repositories.selectIds({ visibility }))
    .orderBy('issues.updated_at', 'desc');
}

async function readTasks(deps: Dependencies, query: ReturnType<typeof selectOpen>, limits: number): Promise<TaskList> {
  const [rows, counted] = await Promise.all([
    query.limit(limits).execute(),
    query
      .clearSelect()
      .clearOrderBy()
      .select((is) => is.fn.countAll<number>().as('count'))
      .executeTakeFirst(),
  ]);
  const items = rows.map(({ updated_at, pull, ...row }) => ({ ...row, pull: pull === 1, time: updated_at }));
  return { items, more: Number(counted?.count ?? 0) - items.length };
}

function selectIssueIds(
  { storage: { db } }: Dependencies,
  table: 'review_requests' | 'issue_assignees',
  account: string,
) {
  return db.selectFrom(table).select('issue_id').where('account', '=', account);
}

/** Lists the open issues that a table assigns to the account. */
function listTasks(
  deps: Dependencies,
  table: 'review_requests' | 'issue_assignees',
  {
    account,
    visibility,
    limits,
  }: { readonly account: string; readonly visibility: RepositoryVisibility; readonly limits: typeof defaultLimits },
): Promise<TaskList> {
  return readTasks(
    deps,
    selectOpen(deps, visibility).where('issues.id', 'in', selectIssueIds(deps, table, account)),
    limits.tasks,
  );
}

/** Lists open pull requests that are neither assigned to the account nor waiting for its review. */
function listOtherPulls(
  deps: Dependencies,
  account: string,
  visibility: RepositoryVisibility,
  limits: typeof defaultLimits,
): Promise<TaskList> {
  return readTasks(
    deps,
    selectOpen(deps, visibility)
      .where('pull', '=', 1)
      .where('issues.id', 'not in', selectIssueIds(deps, 'review_requests', account))
      .where('issues.id', 'not in', selectIssueIds(deps, 'issue_assignees', account)),
    limits.pulls,
  );
}

/** Lists hooks with a failed last delivery in repositories that the account administers. */
async function listFailingHooks(deps: Dependencies, visibility: RepositoryVisibility) {
  const { db, repositories } = deps.storage;

  const ownRepositories: RepositoryVisibility =
    visibility === 'all' ? 'all' : { ...visibility, public: false as const, ids: [] };
  const rows = await db
    .selectFrom('webhooks')
    .innerJoin('repositories', 'repositories.id', 'webhooks.repository_id')
    .innerJoin('owners', 'owners.id', 'repositories.owner_id')
    .select(['owners.name as owner', 'repositories.name as name', 'webhooks.url'])
    .where('webhooks.active', '=', 1)
    .where('webhooks.repository_id', 'in', repositories.selectIds({ visibility: ownRepositories }))
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
    .limit(defaultLimits.tasks)
    .execute();
  // The path of a URL can contain a secret.
  return rows.map(({ url, ...row }) => ({
    ...row,
    url: URL.parse(deps.webhooks.hooks.getAddress({ url }))?.origin ?? '',
  }));
}
