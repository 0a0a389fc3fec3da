import { defineService, type Context, type Service } from '../contracts/service.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { createAccountData } from './account-data/account-data.ts';
import {
  composeAccessControl,
  composeAppApi,
  composeCollaboration,
  composeFeatures,
  composeHttp,
  composeStorage,
  composeTransfer,
  composeWork,
  composeWebhooks,
  handleWebhookJobs,
} from './composition.ts';
import { GitMonitor } from './engine/git-monitor.ts';
import { getHealth } from './health.ts';
import { LfsStore } from './lfs/lfs-store.ts';
import { LfsTickets } from './lfs/tickets.ts';
import { manifest } from './manifest.ts';
import { createGitMetrics, startMetricsRefresh } from './metrics.ts';
import { createPushNotifications } from './push-notifications.ts';
import { readRecentActivity } from './recent-activity.ts';
import { releaseAbandoned } from './recovery.ts';
import { backupRepositories, copyRepositories, restoreRepositories } from './repositories/backup.ts';
import type { Settings } from './settings.ts';
import type { SshDependencies } from './ssh/server.ts';
import { SshListener } from './ssh/ssh-listener.ts';
import { recordPushHistory } from './transfer/push-history.ts';

/** Git hosting: repositories over HTTP and SSH, with Gitea's API. */
export const git = defineService({ ...manifest, create });

function create(context: Context, initialSettings: Settings): Service {
  const resources = new AsyncDisposableStack();
  const live = createLiveSettings(initialSettings);
  const settings = live.current;
  const storage = composeStorage(context, settings);
  const { git, find, folder, manager, objects, owners, repositories, repositoriesFolder } = storage;
  resources.use(objects);
  resources.use(repositoriesFolder);
  const accessControl = composeAccessControl(context, settings, storage);
  const { keys, lookup, organizations, signIn } = accessControl;
  const webhooks = composeWebhooks(context, settings, storage);
  const branches = (): readonly string[] => settings.noticeBranches;
  const pushNotifications = createPushNotifications({ context, branches, git, find, folder });
  const { collaboration, pushControl } = composeCollaboration(context, storage, accessControl, {
    consequences: [pushNotifications.consequence, webhooks.pushEvents.consequence, recordPushHistory(context.clock)],
    issueListener: webhooks.issueEvents.listener,
  });
  const transfer = composeTransfer(context, settings, storage, pushControl);
  const lfs = new LfsStore(context, { quota: () => settings.lfsQuotaMegabytes * 1024 * 1024 });
  const tickets = new LfsTickets(context, signIn, keys);
  const metrics = createGitMetrics(context, repositories);
  const features = composeFeatures(context, storage, lfs);
  const routes = { context, settings, storage, accessControl, pushControl, collaboration, webhooks, features };
  const { payloads } = webhooks;
  const lfsAddress: SshDependencies['lfsAddress'] = (repository) => payloads.getLfsAddress(repository);
  const ssh = new SshListener({ context, keys, signIn, lookup, transfer, tickets, lfsAddress });
  const accountData = createAccountData({ context, manager, objects, owners, repositories });
  const { upkeep, work } = composeWork(routes, {
    releaseAbandoned: () => releaseAbandoned(owners, accountData),
    handleJobs: () => {
      const jobs = new DisposableStack();
      jobs.use(pushNotifications.handle());
      jobs.use(handleWebhookJobs(context, settings, { storage, webhooks, collaboration }));
      return jobs;
    },
  });
  let nameConflicts: readonly string[] = [];
  const begin = async (): Promise<void> => {
    resources.use(owners.follow());
    resources.use(repositoriesFolder.onChange((isAvailable) => void (isAvailable ? undefined : objects.closeAll())));
    nameConflicts = await organizations.claimNames();
    resources.use(await ssh.start(context));
    resources.use(work);
    await work.start();
    resources.use(await startMetricsRefresh(context, metrics));
  };
  const monitor = new GitMonitor({ context, git, onFirstAvailable: begin });

  return {
    http: composeHttp(routes, { transfer, tickets, metrics }),
    listeners: { ssh: { tcp: (socket) => ssh.accept(socket) } },
    api: composeAppApi(routes),
    metricsToken: settings.metricsToken,
    accountData,
    recentActivity: (query) => readRecentActivity(routes, query),
    start: () => monitor.start(),
    async backup(target) {
      // Other hosts use the folder as well, and its tables are not part of the backup.
      if (repositoriesFolder.isShared) return;
      const { mayBeMissing, path: root } = repositoriesFolder;
      // The folder of a file system that is not mounted contains no repositories.
      await repositoriesFolder.verify();
      // Without git no pushes are possible, so the folders can be copied.
      if (monitor.problem !== undefined) await copyRepositories({ mayBeMissing, root }, target);
      else await upkeep.runPaused(() => backupRepositories({ mayBeMissing, root, git }, target));
      await repositoriesFolder.verify();
    },
    async restore(source) {
      if (repositoriesFolder.isShared) return;
      await repositoriesFolder.ensureRestorable();
      await restoreRepositories({ files: context.files, root: repositoriesFolder.path }, source);
    },
    health: () => getHealth({ context, settings, monitor, nameConflicts, repositories, repositoriesFolder }),
    reconfigure: live.update,
    async [Symbol.asyncDispose]() {
      await monitor[Symbol.asyncDispose]();
      await resources.disposeAsync();
    },
  };
}
