import type { Kysely } from 'kysely';
import { Problem } from '../contracts/problem.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { validateRepositoryName } from './domain/names.ts';
import { Git } from './engine/git.ts';
import { PayloadBuilder } from './hooks/payload-builder.ts';
import { Hooks } from './hooks/hooks.ts';
import { createIssueHookEvents } from './hooks/issue-events.ts';
import { createPushHookEvents } from './hooks/push-events.ts';
import { handleDeliveries } from './hooks/webhook-delivery.ts';
import { gitListener } from './http/listener.ts';
import { pullTextAnswer } from './http/pull-text.ts';
import { webAnswer } from './http/web.ts';
import { Issues } from './issues/issues.ts';
import { IssueWriter } from './issues/writer.ts';
import { LfsStore } from './lfs/lfs-store.ts';
import { Locks } from './lfs/locks.ts';
import { LfsTickets } from './lfs/tickets.ts';
import { manifest } from './manifest.ts';
import { createGitMetrics } from './metrics.ts';
import { createIssueUpdates } from './pulls/after-push.ts';
import { Comparisons } from './pulls/comparisons.ts';
import { Merges } from './pulls/merge.ts';
import { cleanMergeAreas } from './pulls/merge-area.ts';
import { MergeRules } from './pulls/merge-rules.ts';
import { Pulls } from './pulls/pulls.ts';
import { Portable } from './portable/portable.ts';
import { createPushNotifications } from './push-notifications.ts';
import { Protections, type Pusher, type PushDecision } from './protection/protections.ts';
import { findReservedReferences } from './protection/reserved-references.ts';
import { TagProtections } from './protection/tag-protections.ts';
import { Releases } from './releases/releases.ts';
import { createAccountData } from './repositories/account-data.ts';
import { Access } from './repositories/access.ts';
import { backupRepositories, copyRepositories, reconcileRestored, restoreRepositories } from './repositories/backup.ts';
import { Collaborators } from './repositories/collaborators.ts';
import { Forks } from './repositories/forks.ts';
import { recordPushHistory } from './repositories/history.ts';
import { RepositoryManager } from './repositories/repository-manager.ts';
import { LastCommits } from './repositories/last-commits.ts';
import { Lookup } from './repositories/lookup.ts';
import { Objects } from './repositories/objects.ts';
import { Organizations } from './repositories/organizations.ts';
import { Owners } from './repositories/owners.ts';
import { Repositories, type Repository } from './repositories/repositories.ts';
import { Maintenance } from './repositories/maintenance.ts';
import type { ContentDependencies } from './gitea-api/contents.ts';
import type { HookDependencies } from './gitea-api/hooks.ts';
import { mayWrite } from './gitea-api/issues/issue-access.ts';
import { getLevelOfAccount } from './gitea-api/api-dependencies.ts';
import { Router, type GetLevel } from './gitea-api/router.ts';
import { giteaApiRoutes } from './gitea-api/routes.ts';
import { buildSwagger } from './gitea-api/swagger.ts';
import { branchRoutes } from './app-api/branches.ts';
import { fileRoutes } from './app-api/files.ts';
import { issueRoutes } from './app-api/issues.ts';
import { importExportRoutes } from './app-api/import-export.ts';
import { releaseRoutes } from './app-api/releases.ts';
import { overviewRoutes } from './app-api/overview.ts';
import { pullRequestRoutes } from './app-api/pulls.ts';
import { repositoryApiRoutes } from './app-api/routes.ts';
import { settingsRoutes } from './app-api/settings.ts';
import { withPageMessages } from './app-api/page-messages.ts';
import type { Settings } from './settings.ts';
import { SignIn } from './sign-in/sign-in.ts';
import { Tokens } from './sign-in/tokens.ts';
import type { Caller } from './sign-in/caller.ts';
import { renderVisitorPage } from './visitors/pages.ts';
import { readHostKeys } from './ssh/host-keys.ts';
import { Keys } from './ssh/keys.ts';
import { SshServer } from './ssh/server.ts';
import { Statuses } from './statuses/statuses.ts';
import type { Tables } from './store/tables.ts';
import type { RefChange } from './transfer/push-request.ts';
import { createPushOptionHandler } from './transfer/push-options.ts';
import { Pushes } from './transfer/pushes.ts';
import { Transfer } from './transfer/transfer.ts';

/** Git hosting: repositories over HTTP and SSH, with Gitea's API. */
export const git = defineService({
  ...manifest,
  create,
});

const minute = 60_000;

function create(context: Context, initialSettings: Settings): Service {
  const live = createLiveSettings(initialSettings);
  const settings = live.current;
  const { accounts, clock, log } = context;
  const db: Kysely<Tables> = context.db;
  const disposables = new DisposableStack();
  const engine = new Git(context, settings.gitPath);
  const objects = new Objects(engine, clock);
  const repositories = new Repositories(db);
  const owners = new Owners(context, repositories);
  const manager = new RepositoryManager(context, engine, repositories);
  const folder = (repository: Pick<Repository, 'folder'>): string => manager.getFolder(repository);
  const tokens = new Tokens(context);
  const keys = new Keys(context);
  const signIn = new SignIn(context, tokens);
  const access = new Access({ accounts, db, repositories, requireSignIn: () => settings.requireSignIn });
  const lookup = new Lookup(repositories, access);
  const lfs = new LfsStore(context, { quota: () => settings.lfsQuotaMegabytes * 1024 * 1024 });
  const tickets = new LfsTickets(context, signIn, keys);
  const pushNotifications = createPushNotifications({
    context,
    branches: () => settings.noticeBranches,
    git: engine,
    find: (id) => repositories.findById(id),
    folder,
  });
  const hooks = new Hooks(context);
  const payloads = new PayloadBuilder({
    context,
    publicUrl: () => settings.publicUrl,
    owners,
    repositories,
    ssh: (base) => ssh(base),
  });
  const find = (id: number): Promise<Repository | undefined> => repositories.findById(id);
  const hookEvents = createPushHookEvents({ context, git: engine, hooks, payloads, find, folder });
  const consequences = [pushNotifications.consequence, hookEvents.consequence, recordPushHistory(clock)];
  const protections = new Protections(context);
  const tagProtections = new TagProtections(context);
  const statuses = new Statuses(context);
  const issues = new Issues(db, repositories);
  const issueHooks = createIssueHookEvents(context, hooks);
  const writer = new IssueWriter({ context, listeners: [issueHooks.listener] });
  const comparisons = new Comparisons(context, engine);
  const pullDependencies = { comparisons, db, folder, git: engine, objects, repositories, writer };
  const pulls = new Pulls(pullDependencies);
  const pushes = new Pushes({
    context,
    git: engine,
    repositories,
    folder,
    consequences,
    preparations: [createIssueUpdates({ ...pullDependencies, protections, pulls })],
  });
  const mayWriteTo = async (repository: Repository, account: string): Promise<boolean> =>
    mayWrite(await getLevelOfAccount({ access, signIn }, account, repository));
  const rules = new MergeRules({ db, protections, statuses, mayWrite: mayWriteTo });
  const merges = new Merges({ ...pullDependencies, context, issues, protections, pulls, pushes, rules });
  const evaluateRules = async (
    repository: Repository,
    changes: readonly RefChange[],
    pusher: Pusher,
  ): Promise<PushDecision> => {
    const { addOnly, rejected: refused } = await protections.evaluate(repository.id, changes, pusher);
    const tags = await tagProtections.findRejected(repository.id, changes, pusher);
    return { addOnly, rejected: new Map([...findReservedReferences(repository, changes), ...refused, ...tags]) };
  };
  const transfer = new Transfer({
    context,
    git: engine,
    folder,
    pushes,
    rules: async (repository, { changes }, pusher) =>
      repository.archived
        ? { rejected: new Map(changes.map(({ ref }) => [ref, 'this repository is archived'])), addOnly: [] }
        : evaluateRules(repository, changes, pusher),
    pushOptions: createPushOptionHandler(manager),
    maxPushBytes: () => settings.maxPushMegabytes * 1024 * 1024,
  });
  const metrics = createGitMetrics(context, repositories);

  const createOnPush = async (caller: Caller, owner: string, name: string): Promise<Repository | undefined> => {
    if (!settings.createOnPush || validateRepositoryName(name) !== undefined) return undefined;
    const ownerRow = await owners.find(owner);
    if (ownerRow === undefined || !(await access.administersOwner(caller, ownerRow))) return undefined;
    return manager.create({
      owner: ownerRow.name,
      ownerKind: ownerRow.kind,
      name,
      private: true,
      defaultBranch: settings.defaultBranch,
    });
  };
  const ssh = (base: string): string => {
    const port = new URL(context.address('git', 'ssh') ?? 'ssh://127.0.0.1:2222').port;
    const host = settings.sshHost === '' ? new URL(base).hostname : settings.sshHost;
    return `ssh://git@${host}${port === '' || port === '22' ? '' : `:${port}`}`;
  };
  const deps: ContentDependencies & HookDependencies = {
    context,
    settings,
    git: engine,
    objects,
    repositories,
    owners,
    manager,
    access,
    lookup,
    pushes,
    tokens,
    keys,
    signIn,
    ssh,
    lastCommits: new LastCommits(engine),
    hooks,
    payloads,
    lfs,
    protections,
    tagProtections,
    statuses,
    collaborators: new Collaborators(context),
    organizations: new Organizations(context),
    forks: new Forks(context, { git: engine, manager, lfs, repositories }),
    releases: new Releases(context),
  };
  const portable = new Portable({ context, git: engine, manager, lfs, releases: deps.releases, repositories });
  const issueDependencies = { ...deps, db, issues, writer, pulls, merges, rules };
  const findRenamed = async (caller: Caller, owner: string, name: string): Promise<string | undefined> => {
    if ((await repositories.find(owner, name)) !== undefined) return undefined;
    const current = await lookup.findRenamed(caller, owner, name);
    return current === undefined
      ? undefined
      : `${encodeURIComponent(current.owner)}/${encodeURIComponent(current.name)}`;
  };
  const routes = giteaApiRoutes({ ...issueDependencies, portable });
  const level: GetLevel = async (caller, owner, name) => (await lookup.find(caller, owner, name))?.level ?? 'none';
  const api = new Router({ context, signIn, findRenamed, level }, routes);
  const lfsAddress = (repository: Repository): string => {
    const { base, full } = payloads.getAddress(repository);
    return `${base}/${full}.git/info/lfs`;
  };
  let sshServer: SshServer | undefined;
  let maintenance: Maintenance | undefined;
  let gitProblem: Problem | undefined;

  const accountData = createAccountData({ context, manager, objects, owners, repositories });
  let nameConflicts: readonly string[] = [];
  const logRefreshFailure = (error: unknown): void => log.error('metrics refresh failed', { error });

  return {
    http: gitListener({
      context,
      publicUrl: () => settings.publicUrl,
      smart: { context, signIn, lookup, transfer, git: engine, folder, createOnPush },
      lfs: { context, signIn, lookup, store: lfs, locks: new Locks(context), tickets },
      api,
      web: async (request, url, base) =>
        (await pullTextAnswer(issueDependencies, request, url)) ?? webAnswer(deps, request, url, base),
      visitorPage: (url, links) => renderVisitorPage(issueDependencies, url, links),
      swagger: buildSwagger(routes),
      recordDuration: (seconds, kind) => metrics.requestDuration.observe(seconds, { kind }),
    }),
    listeners: {
      ssh: {
        tcp: (socket) => {
          if (sshServer === undefined) socket.destroy();
          else sshServer.accept(socket);
        },
      },
    },
    metricsToken: settings.metricsToken,
    reconfigure: live.update,
    api: [
      ...repositoryApiRoutes(deps),
      ...branchRoutes(issueDependencies),
      ...fileRoutes(issueDependencies),
      ...settingsRoutes(deps),
      ...issueRoutes(issueDependencies),
      ...pullRequestRoutes(issueDependencies),
      ...overviewRoutes(issueDependencies),
      ...releaseRoutes({ ...issueDependencies, portable }),
      ...importExportRoutes({ ...issueDependencies, portable }),
    ].map(withPageMessages),

    async start() {
      try {
        await engine.open();
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        gitProblem = error;
        log.error('git unavailable', { error });
        return;
      }
      await reconcileRestored({ context, git: engine }, folder);
      await manager.removeStale(db);
      await cleanMergeAreas(context.files);
      await lfs.clean();
      await portable.clean();
      await pushes.recover();
      await merges.removeUnfinished();
      await hooks.sealAddresses();
      await pulls.recover();
      nameConflicts = await deps.organizations.claimNames();
      for (const account of await owners.listAbandoned()) {
        await accountData.release(account, { action: 'keep', as: `${account} (removed)` });
      }
      sshServer = disposables.use(
        new SshServer(
          { context, keys, signIn, lookup, transfer, tickets, lfsAddress },
          await readHostKeys(context.files),
        ),
      );
      maintenance = new Maintenance({ context, git: engine, find, folder });
      disposables.use(pushNotifications.handle());
      disposables.use(hookEvents.handle());
      disposables.use(issueHooks.handle({ context, db, find, payloads, issues, owners, pulls }));
      disposables.use(handleDeliveries({ context, hooks, mayReachLocal: () => settings.hooksToLocalNetwork }));
      await metrics.refresh();
      disposables.use(clock.every(minute, () => void metrics.refresh().catch(logRefreshFailure)));
    },

    async backup(target) {
      // Without git no pushes are possible, so the folders can be copied.
      if (gitProblem !== undefined) return copyRepositories(context.files, target);
      const save = (): Promise<void> => backupRepositories({ context, git: engine }, target);
      await (maintenance === undefined ? save() : maintenance.runPaused(save));
    },

    accountData,

    restore: (source) => restoreRepositories({ context }, source),

    async health(): Promise<Health> {
      if (gitProblem !== undefined) return { state: 'degraded', detail: gitProblem.detail };
      if (nameConflicts.length > 0) {
        const detail = `${nameConflicts.join(', ')}: an organization and an account have the same name; rename one of them`;
        return { state: 'degraded', detail };
      }
      const count = await repositories.count();
      const begin = { label: 'Make a first repository', to: '/git' };
      const detail = count === 0 ? 'no repositories yet' : count === 1 ? '1 repository' : `${count} repositories`;
      return { state: 'up', detail, ...(count === 0 ? { begin } : {}) };
    },

    async [Symbol.asyncDispose]() {
      disposables.dispose();
      await maintenance?.[Symbol.asyncDispose]();
      await objects[Symbol.asyncDispose]();
    },
  };
}
