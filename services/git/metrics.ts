import { currentPlatform } from '../kit/platform/current-platform.ts';
import type { Histogram } from '../contracts/metrics.ts';
import type { Context } from '../contracts/service.ts';
import type { Repositories } from './repositories/repositories.ts';
import { peerVersion } from './gitea-api/misc.ts';
import type { Db } from './store/tables.ts';

const minuteMs = 60_000;

type Dependencies = Pick<Context, 'accounts' | 'db' | 'metrics'>;

export interface GitMetrics {
  /** Durations of requests, s. */
  readonly requestDuration: Histogram;
  /** Updates the metrics that have labels. */
  readonly refresh: () => Promise<void>;
}

/** Registers Homeport's metrics, and Gitea's metrics for existing dashboards. */
export function createGitMetrics(context: Dependencies, repositories: Repositories): GitMetrics {
  const { accounts, metrics } = context;
  registerHomeportGauges(context, repositories);
  registerGiteaGauges(context, repositories);
  const state = metrics.gauge({ name: 'gitea_users', help: 'Number of Users', labels: ['state'], peer: true });
  return {
    requestDuration: metrics.histogram({
      name: 'githost_http_request_duration_seconds',
      help: 'How long requests take.',
      labels: ['kind'],
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60],
      peer: true,
    }),
    async refresh() {
      const all = (await accounts.list()).filter(({ name }) => name !== '*');
      state.set(all.filter(({ enabled }) => enabled).length, { state: 'active' });
      state.set(all.filter(({ enabled }) => !enabled).length, { state: 'inactive' });
    },
  };
}

/** Updates the metrics that have labels now and every minute. */
export async function startMetricsRefresh(
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  metrics: GitMetrics,
): Promise<Disposable> {
  await metrics.refresh();
  const logFailure = (error: unknown): void => log.error('metrics refresh failed', { error });
  return clock.every(minuteMs, () => void metrics.refresh().catch(logFailure));
}

function registerHomeportGauges({ accounts, db, metrics }: Dependencies, repositories: Repositories): void {
  const gauge = createGaugeRegistration(metrics);
  const users = async (): Promise<number> => (await accounts.list()).filter(({ name }) => name !== '*').length;
  gauge('githost_repositories_total', 'Repositories.', () => repositories.count());
  gauge('githost_users_total', 'Accounts.', users);
  gauge('githost_issues_total', 'Issues.', () => countIssues(db, { pull: 0 }));
  gauge('githost_pulls_total', 'Pull requests.', () => countIssues(db, { pull: 1 }));
  gauge('githost_process_resident_memory_bytes', 'Memory of the process that serves them.', () =>
    process.memoryUsage.rss(),
  );
}

function registerGiteaGauges({ db, metrics }: Dependencies, repositories: Repositories): void {
  const gauge = createGaugeRegistration(metrics);
  gauge('gitea_issues', 'Number of Issues', () => countIssues(db, {}));
  gauge('gitea_issues_open', 'Number of open Issues', () => countIssues(db, { closed: 0 }));
  gauge('gitea_issues_closed', 'Number of closed Issues', () => countIssues(db, { closed: 1 }));
  gauge('gitea_repositories', 'Number of Repositories', () => repositories.count());
  gauge('gitea_publickeys', 'Number of PublicKeys', () => countRows(db, 'public_keys'));
  gauge('gitea_webhooks', 'Number of Webhooks', () => countRows(db, 'webhooks'));
  gauge('gitea_hooktasks', 'Number of HookTasks', () => countRows(db, 'hook_deliveries'));
  gauge('gitea_releases', 'Number of Releases', () => countRows(db, 'releases'));
  gauge('gitea_attachments', 'Number of Attachments', () => countRows(db, 'release_assets'));
  gauge('gitea_stars', 'Number of Stars', () => countRows(db, 'stars'));
  gauge('gitea_organizations', 'Number of Organizations', () => countRows(db, 'owners', 'organization'));
  metrics
    .gauge({
      name: 'gitea_build_info',
      help: 'Build information',
      labels: ['goarch', 'goos', 'goversion', 'version'],
      peer: true,
    })
    .set(1, { goarch: process.arch, goos: currentPlatform, goversion: '', version: peerVersion });
}

function createGaugeRegistration(metrics: Context['metrics']) {
  return (name: string, help: string, collect: () => number | Promise<number>): void => {
    metrics.gauge({ name, help, collect, peer: true });
  };
}

async function countRows(
  db: Db,
  table: 'public_keys' | 'owners' | 'webhooks' | 'hook_deliveries' | 'releases' | 'release_assets' | 'stars',
  kind?: string,
): Promise<number> {
  const rows = db.selectFrom(table).select((is) => is.fn.countAll<number>().as('count'));
  const row = await (kind === undefined ? rows : rows.where('kind' as never, '=', kind as never)).executeTakeFirst();
  return row?.count ?? 0;
}

async function countIssues(db: Db, state: { readonly pull?: number; readonly closed?: number }): Promise<number> {
  let rows = db.selectFrom('issues').select((is) => is.fn.countAll<number>().as('count'));
  for (const [column, value] of Object.entries(state)) rows = rows.where(column as 'pull', '=', value);
  return Number((await rows.executeTakeFirst())?.count ?? 0);
}
