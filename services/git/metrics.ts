import type { Context } from '../contracts/service.ts';
import type { Repositories } from './repositories/repositories.ts';
import { peerVersion } from './gitea-api/misc.ts';
import type { Db } from './gitea-api/api-dependencies.ts';

/** Registers Homeport's metrics, and Gitea's metrics for existing dashboards. */
export function createGitMetrics(
  { accounts, db, metrics }: Pick<Context, 'accounts' | 'db' | 'metrics'>,
  repositories: Repositories,
) {
  const gauge = (name: string, help: string, collect: () => number | Promise<number>): void => {
    metrics.gauge({ name, help, collect, peer: true });
  };
  const count = async (
    table: 'public_keys' | 'owners' | 'webhooks' | 'hook_deliveries' | 'releases' | 'release_assets' | 'stars',
    kind?: string,
  ): Promise<number> => {
    const rows = (db as Db).selectFrom(table).select((is) => is.fn.countAll<number>().as('count'));
    const row = await (kind === undefined ? rows : rows.where('kind' as never, '=', kind as never)).executeTakeFirst();
    return row?.count ?? 0;
  };
  const users = async (): Promise<number> => (await accounts.list()).filter(({ name }) => name !== '*').length;
  const memory = (): number => process.memoryUsage.rss();
  gauge('githost_repositories_total', 'Repositories.', () => repositories.count());
  gauge('githost_users_total', 'Accounts.', users);
  const issues = async (state: { readonly pull?: number; readonly closed?: number }): Promise<number> => {
    let rows = (db as Db).selectFrom('issues').select((is) => is.fn.countAll<number>().as('count'));
    for (const [column, value] of Object.entries(state)) rows = rows.where(column as 'pull', '=', value);
    return Number((await rows.executeTakeFirst())?.count ?? 0);
  };
  gauge('githost_issues_total', 'Issues.', () => issues({ pull: 0 }));
  gauge('githost_pulls_total', 'Pull requests.', () => issues({ pull: 1 }));
  gauge('gitea_issues', 'Number of Issues', () => issues({}));
  gauge('gitea_issues_open', 'Number of open Issues', () => issues({ closed: 0 }));
  gauge('gitea_issues_closed', 'Number of closed Issues', () => issues({ closed: 1 }));
  gauge('githost_process_resident_memory_bytes', 'Memory of the process that serves them.', memory);
  gauge('gitea_repositories', 'Number of Repositories', () => repositories.count());
  gauge('gitea_publickeys', 'Number of PublicKeys', () => count('public_keys'));
  gauge('gitea_webhooks', 'Number of Webhooks', () => count('webhooks'));
  gauge('gitea_hooktasks', 'Number of HookTasks', () => count('hook_deliveries'));
  gauge('gitea_releases', 'Number of Releases', () => count('releases'));
  gauge('gitea_attachments', 'Number of Attachments', () => count('release_assets'));
  gauge('gitea_stars', 'Number of Stars', () => count('stars'));
  gauge('gitea_organizations', 'Number of Organizations', () => count('owners', 'organization'));
  metrics
    .gauge({
      name: 'gitea_build_info',
      help: 'Build information',
      labels: ['goarch', 'goos', 'goversion', 'version'],
      peer: true,
    })
    .set(1, { goarch: process.arch, goos: process.platform, goversion: '', version: peerVersion });
  const state = metrics.gauge({ name: 'gitea_users', help: 'Number of Users', labels: ['state'], peer: true });
  return {
    requestDuration: metrics.histogram({
      name: 'githost_http_request_duration_seconds',
      help: 'How long requests take.',
      labels: ['kind'],
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60],
      peer: true,
    }),
    /** Updates the metrics that have labels. Call it regularly. */
    async refresh(this: void): Promise<void> {
      const all = (await accounts.list()).filter(({ name }) => name !== '*');
      state.set(all.filter(({ enabled }) => enabled).length, { state: 'active' });
      state.set(all.filter(({ enabled }) => !enabled).length, { state: 'inactive' });
    },
  };
}
