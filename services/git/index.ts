import type { RequestListener } from 'node:http';
import type { ApiHandler } from '../contracts/api.ts';
import type { AccountData } from '../contracts/control/account-data.ts';
import type { Health } from '../contracts/health.ts';
import { Problem } from '../contracts/problem.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import {
  composeAccessControl,
  composeAppApi,
  composeCollaboration,
  composeHttp,
  composeRouteDependencies,
  composeStorage,
  composeTransfer,
  composeWebhooks,
  type AccessControl,
  type Collaboration,
  type RepositoryStorage,
  type Webhooks,
} from './composition.ts';
import { handleDeliveries } from './hooks/webhook-delivery.ts';
import { LfsStore } from './lfs/lfs-store.ts';
import { LfsTickets } from './lfs/tickets.ts';
import { loadOnDemand } from './load-on-demand.ts';
import { manifest } from './manifest.ts';
import { createGitMetrics, type GitMetrics } from './metrics.ts';
import type { Portable } from './portable/portable.ts';
import { cleanMergeAreas } from './pulls/merge-area.ts';
import { createPushNotifications } from './push-notifications.ts';
import { createAccountData } from './account-data/account-data.ts';
import { backupRepositories, copyRepositories, reconcileRestored, restoreRepositories } from './repositories/backup.ts';
import { recordPushHistory } from './transfer/push-history.ts';
import { Maintenance } from './repositories/maintenance.ts';
import type { Organizations } from './repositories/organizations.ts';
import type { Repository } from './repositories/repositories.ts';
import type { Settings } from './settings.ts';
import { readHostKeys } from './ssh/host-keys.ts';
import { SshServer } from './ssh/server.ts';
import type { Transfer } from './transfer/transfer.ts';

/** Git hosting: repositories over HTTP and SSH, with Gitea's API. */
export const git = defineService({
  ...manifest,
  create: (context, settings) => new GitService(context, settings),
});

const minute = 60_000;

class GitService implements Service {
  readonly http: RequestListener;
  readonly listeners: NonNullable<Service['listeners']>;
  readonly api: readonly ApiHandler[];
  readonly metricsToken: string;
  readonly accountData: AccountData;
  readonly reconfigure: (settings: unknown) => Promise<void>;
  readonly #context: Context;
  readonly #settings: Readonly<Settings>;
  readonly #storage: RepositoryStorage;
  readonly #accessControl: AccessControl;
  readonly #webhooks: Webhooks;
  readonly #collaboration: Collaboration;
  readonly #pushNotifications: ReturnType<typeof createPushNotifications>;
  readonly #transfer: Transfer;
  readonly #lfs: LfsStore;
  readonly #tickets: LfsTickets;
  readonly #organizations: Organizations;
  readonly #portable: Portable;
  readonly #metrics: GitMetrics;
  readonly #disposables = new DisposableStack();
  #sshServer: SshServer | undefined;
  #maintenance: Maintenance | undefined;
  /** Set when git cannot run, as when it is not installed. */
  #gitProblem: Problem | undefined;
  #nameConflicts: readonly string[] = [];

  constructor(context: Context, initialSettings: Settings) {
    const live = createLiveSettings(initialSettings);
    const settings = live.current;
    const storage = composeStorage(context, settings);
    const accessControl = composeAccessControl(context, settings, storage);
    const webhooks = composeWebhooks(context, settings, storage);
    const pushNotifications = createPushNotifications({
      context,
      branches: () => settings.noticeBranches,
      git: storage.git,
      find: storage.find,
      folder: storage.folder,
    });
    const collaboration = composeCollaboration(context, storage, accessControl, {
      consequences: [pushNotifications.consequence, webhooks.pushEvents.consequence, recordPushHistory(context.clock)],
      issueListener: webhooks.issueEvents.listener,
    });
    const lfs = new LfsStore(context, { quota: () => settings.lfsQuotaMegabytes * 1024 * 1024 });
    const components = { storage, accessControl, webhooks, collaboration, lfs };
    const deps = composeRouteDependencies(context, settings, components);
    this.#context = context;
    this.#settings = settings;
    this.#storage = storage;
    this.#accessControl = accessControl;
    this.#webhooks = webhooks;
    this.#collaboration = collaboration;
    this.#pushNotifications = pushNotifications;
    this.#transfer = composeTransfer(context, settings, storage, collaboration);
    this.#lfs = lfs;
    this.#tickets = new LfsTickets(context, accessControl.signIn, accessControl.keys);
    this.#organizations = deps.organizations;
    this.#portable = deps.portable;
    this.#metrics = createGitMetrics(context, storage.repositories);
    this.http = composeHttp(deps, { transfer: this.#transfer, tickets: this.#tickets, metrics: this.#metrics });
    this.listeners = {
      ssh: {
        tcp: (socket) => {
          if (this.#sshServer === undefined) socket.destroy();
          else this.#sshServer.accept(socket);
        },
      },
    };
    this.api = composeAppApi(deps);
    this.metricsToken = settings.metricsToken;
    const { manager, objects, owners, repositories } = storage;
    this.accountData = createAccountData({ context, manager, objects, owners, repositories });
    this.reconfigure = live.update;
  }

  async start(): Promise<void> {
    const { clock, files, log } = this.#context;
    const { git, find, folder } = this.#storage;
    const { keys, lookup, signIn } = this.#accessControl;
    try {
      await git.open();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#gitProblem = error;
      log.error('git unavailable', { error });
      return;
    }
    await this.#recover();
    await this.#releaseAbandonedData();
    const sshDependencies = {
      context: this.#context,
      keys,
      signIn,
      lookup,
      transfer: this.#transfer,
      tickets: this.#tickets,
      lfsAddress: (repository: Repository) => this.#getLfsAddress(repository),
    };
    this.#sshServer = this.#disposables.use(new SshServer(sshDependencies, await readHostKeys(files)));
    this.#maintenance = new Maintenance({ context: this.#context, git, find, folder });
    this.#handleJobs();
    await this.#metrics.refresh();
    const logRefreshFailure = (error: unknown): void => log.error('metrics refresh failed', { error });
    this.#disposables.use(clock.every(minute, () => void this.#metrics.refresh().catch(logRefreshFailure)));
  }

  /** Repairs unfinished work of an interrupted run or a restored backup. */
  async #recover(): Promise<void> {
    const { db, git, folder, manager } = this.#storage;
    const { merges, pulls, pushes } = this.#collaboration;
    await reconcileRestored({ context: this.#context, git }, folder);
    await manager.removeStale(db);
    await cleanMergeAreas(this.#context.files);
    await this.#lfs.clean();
    await this.#portable.clean();
    await pushes.recover();
    await merges.removeUnfinished();
    await this.#webhooks.hooks.sealAddresses();
    await pulls.recover();
  }

  /** Renames the data of accounts that were removed while the service was stopped. */
  async #releaseAbandonedData(): Promise<void> {
    this.#nameConflicts = await this.#organizations.claimNames();
    for (const account of await this.#storage.owners.listAbandoned()) {
      await this.accountData.release(account, { action: 'keep', as: `${account} (removed)` });
    }
  }

  /** Handles the jobs of notifications and webhooks. */
  #handleJobs(): void {
    const { db, find, owners } = this.#storage;
    const { hooks, issueEvents, payloads, pushEvents } = this.#webhooks;
    const { issues, pulls } = this.#collaboration;
    const context = this.#context;
    this.#disposables.use(this.#pushNotifications.handle());
    this.#disposables.use(pushEvents.handle());
    this.#disposables.use(issueEvents.handle({ context, db, find, payloads, issues, owners, pulls }));
    const mayReachLocal = (): boolean => this.#settings.hooksToLocalNetwork;
    this.#disposables.use(handleDeliveries({ context, hooks, mayReachLocal }));
  }

  #getLfsAddress(repository: Repository): string {
    const { base, full } = this.#webhooks.payloads.getAddress(repository);
    return `${base}/${full}.git/info/lfs`;
  }

  async backup(target: string): Promise<void> {
    // Without git no pushes are possible, so the folders can be copied.
    if (this.#gitProblem !== undefined) return copyRepositories(this.#context.files, target);
    const save = (): Promise<void> => backupRepositories({ context: this.#context, git: this.#storage.git }, target);
    await (this.#maintenance === undefined ? save() : this.#maintenance.runPaused(save));
  }

  restore(source: string): Promise<void> {
    return restoreRepositories({ context: this.#context }, source);
  }

  async health(): Promise<Health> {
    if (this.#gitProblem !== undefined) return { state: 'degraded', detail: this.#gitProblem.detail };
    if (this.#nameConflicts.length > 0) {
      const names = this.#nameConflicts.join(', ');
      return {
        state: 'degraded',
        detail: `${names}: an organization and an account have the same name; rename one of them`,
      };
    }
    const count = await this.#storage.repositories.count();
    if (count === 0) return loadOnDemand.health;
    return { state: 'up', detail: count === 1 ? '1 repository' : `${count} repositories` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposables.dispose();
    await this.#maintenance?.[Symbol.asyncDispose]();
    await this.#storage.objects[Symbol.asyncDispose]();
  }
}
