import type { RequestListener } from 'node:http';
import type { ApiHandler } from '../contracts/api.ts';
import type { Context } from '../contracts/service.ts';
import { branchRoutes } from './app-api/branches.ts';
import { fileRoutes } from './app-api/files.ts';
import { importExportRoutes } from './app-api/import-export.ts';
import { issueRoutes } from './app-api/issues.ts';
import { insightRoutes } from './app-api/insights.ts';
import { overviewRoutes } from './app-api/overview.ts';
import { withPageMessages } from './app-api/page-messages.ts';
import { pullRequestRoutes } from './app-api/pulls.ts';
import { releaseRoutes } from './app-api/releases.ts';
import { repositoryApiRoutes } from './app-api/routes.ts';
import { settingsRoutes } from './app-api/settings.ts';
import type {
  AccessControl,
  Collaboration,
  PushControl,
  RepositoryFeatures,
  RouteDependencies,
  Webhooks,
} from './components.ts';
import type { RepositoryStorage } from './repositories/storage.ts';
import { Git } from './engine/git.ts';
import { getLevelOfAccount } from './gitea-api/repository-requests.ts';
import type { Route } from './gitea-api/call.ts';
import { mayWrite } from './gitea-api/issues/issue-access.ts';
import { ApiRouter } from './gitea-api/router.ts';
import { giteaApiRoutes } from './gitea-api/routes.ts';
import { buildSwagger } from './gitea-api/swagger.ts';
import { Hooks } from './hooks/hooks.ts';
import { createIssueHookEvents } from './hooks/issue-events.ts';
import { handleDeliveries } from './hooks/webhook-delivery.ts';
import { PayloadBuilder } from './hooks/payload-builder.ts';
import { createPushHookEvents } from './hooks/push-events.ts';
import { gitListener } from './http/listener.ts';
import { pullTextAnswer } from './http/pull-text.ts';
import { webAnswer } from './http/web.ts';
import { Issues } from './issues/issues.ts';
import { IssueWriter, type IssueListener } from './issues/writer.ts';
import type { LfsStore } from './lfs/lfs-store.ts';
import { Locks } from './lfs/locks.ts';
import type { LfsTickets } from './lfs/tickets.ts';
import type { GitMetrics } from './metrics.ts';
import { Portable } from './portable/portable.ts';
import { Protections } from './protection/protections.ts';
import { findUnstorableReferences } from './repositories/reference-names.ts';
import { createPushRules } from './protection/push-rules.ts';
import { TagProtections } from './protection/tag-protections.ts';
import { createIssueUpdates } from './pulls/after-push.ts';
import { Comparisons } from './pulls/comparisons.ts';
import { Merges } from './pulls/merge.ts';
import { MergeRules } from './pulls/merge-rules.ts';
import { Pulls } from './pulls/pulls.ts';
import { Releases } from './releases/releases.ts';
import { Access } from './repositories/access.ts';
import { Collaborators } from './repositories/collaborators.ts';
import { createOnPush } from './repositories/create-on-push.ts';
import { Forks } from './repositories/forks.ts';
import { LanguageSizes } from './repositories/language-sizes.ts';
import { LastCommits } from './repositories/last-commits.ts';
import { Lookup } from './repositories/lookup.ts';
import { Objects } from './repositories/objects.ts';
import { Organizations } from './repositories/organizations.ts';
import { Owners } from './repositories/owners.ts';
import { Repositories } from './repositories/repositories.ts';
import { RepositoriesFolder } from './repositories/repositories-folder.ts';
import { RepositoryLocks } from './repositories/repository-locks.ts';
import { RepositoryManager } from './repositories/repository-manager.ts';
import { RepositoryUpkeep, type UpkeepDependencies } from './repositories/upkeep.ts';
import { RepositoryWork, type RepositoryWorkDependencies } from './repository-work.ts';
import { recover } from './recovery.ts';
import type { Settings } from './settings.ts';
import { SignIn } from './sign-in/sign-in.ts';
import { Tokens } from './sign-in/tokens.ts';
import { getSshBase } from './ssh/base-url.ts';
import { Keys } from './ssh/keys.ts';
import { Statuses } from './statuses/statuses.ts';
import { createPushOptionHandler } from './transfer/push-options.ts';
import { PushRecovery } from './transfer/push-recovery.ts';
import { Pushes, type PushConsequence } from './transfer/pushes.ts';
import { Transfer } from './transfer/transfer.ts';
import { renderVisitorPage } from './visitors/pages.ts';

export function composeStorage(context: Context, settings: Settings): RepositoryStorage {
  const repositoriesFolder = new RepositoriesFolder({ context, configuredPath: settings.repositoriesFolder });
  const git = new Git(context, settings.gitPath, repositoriesFolder);
  const repositories = new Repositories(context.db);
  const manager = new RepositoryManager(context, git, repositories, repositoriesFolder);
  return {
    db: context.db,
    git,
    repositoriesFolder,
    locks: new RepositoryLocks(context),
    objects: new Objects(git, context.clock),
    repositories,
    owners: new Owners(context, repositories),
    manager,
    folder: (repository) => manager.getFolder(repository),
    find: (id) => repositories.findById(id),
  };
}

export function composeAccessControl(
  context: Context,
  settings: Settings,
  { db, repositories }: RepositoryStorage,
): AccessControl {
  const tokens = new Tokens(context);
  const access = new Access({
    accounts: context.accounts,
    db,
    repositories,
    requireSignIn: () => settings.requireSignIn,
  });
  return {
    tokens,
    keys: new Keys(context),
    signIn: new SignIn(context, tokens),
    access,
    lookup: new Lookup(repositories, access),
    collaborators: new Collaborators(context),
    organizations: new Organizations(context),
  };
}

/** Webhooks with the events that they are sent for. */
export interface WebhookEvents extends Webhooks {
  readonly pushEvents: ReturnType<typeof createPushHookEvents>;
  readonly issueEvents: ReturnType<typeof createIssueHookEvents>;
}

export function composeWebhooks(
  context: Context,
  settings: Settings,
  { git, owners, repositories, find, folder }: RepositoryStorage,
): WebhookEvents {
  const hooks = new Hooks(context);
  const payloads = new PayloadBuilder({
    context,
    publicUrl: () => settings.publicUrl,
    owners,
    repositories,
    ssh: (base) => getSshBase(context, settings, base),
  });
  return {
    hooks,
    payloads,
    pushEvents: createPushHookEvents({ context, git, hooks, payloads, find, folder }),
    issueEvents: createIssueHookEvents(context, hooks),
  };
}

interface WebhookJobSources {
  readonly storage: RepositoryStorage;
  readonly webhooks: WebhookEvents;
  readonly collaboration: Pick<Collaboration, 'issues' | 'pulls'>;
}

/** Handles the jobs of webhooks: events of pushes and issues, and their deliveries. */
export function handleWebhookJobs(
  context: Context,
  settings: Settings,
  { storage, webhooks, collaboration }: WebhookJobSources,
): Disposable {
  const { hooks, issueEvents, payloads, pushEvents } = webhooks;
  const { issues, pulls } = collaboration;
  const mayReachLocal = (): boolean => settings.hooksToLocalNetwork;
  const resources = new DisposableStack();
  resources.use(pushEvents.handle());
  resources.use(issueEvents.handle({ context, storage, payloads, issues, pulls }));
  resources.use(handleDeliveries({ context, hooks, mayReachLocal }));
  return resources;
}

/** Observers of changes. */
interface ChangeObservers {
  readonly consequences: readonly PushConsequence[];
  readonly issueListener: IssueListener;
}

/** Composes pushes, issues and pull requests, whose rules depend on each other. */
export function composeCollaboration(
  context: Context,
  storage: RepositoryStorage,
  accessControl: AccessControl,
  { consequences, issueListener }: ChangeObservers,
): { readonly collaboration: Collaboration; readonly pushControl: PushControl } {
  const { db, git, locks, repositories, repositoriesFolder, folder } = storage;
  const protections = new Protections(context);
  const statuses = new Statuses(context);
  const issues = new Issues(db, repositories);
  const writer = new IssueWriter({ context, listeners: [issueListener] });
  const comparisons = new Comparisons(context, git);
  const pulls = new Pulls({ comparisons, storage, writer });
  const pushes = new Pushes({
    context,
    git,
    locks,
    repositories,
    folder,
    consequences,
    preparations: [createIssueUpdates({ comparisons, storage, writer, protections, pulls })],
  });
  const recovery = new PushRecovery({ context, git, pushes, repositories, repositoriesFolder, folder });
  const pushControl = { pushes, recovery, protections, tagProtections: new TagProtections(context) };
  const rules = new MergeRules({
    db,
    protections,
    statuses,
    mayWrite: async (repository, account) => mayWrite(await getLevelOfAccount(accessControl, account, repository)),
  });
  const merges = new Merges({
    context,
    comparisons,
    storage,
    pushControl,
    issues,
    writer,
    pulls,
    rules,
  });
  return { collaboration: { issues, writer, pulls, merges, rules, statuses }, pushControl };
}

export function composeTransfer(
  context: Context,
  settings: Settings,
  { git, folder, manager }: RepositoryStorage,
  { protections, pushes, tagProtections }: PushControl,
): Transfer {
  return new Transfer({
    context,
    git,
    folder,
    pushes,
    rules: createPushRules(protections, tagProtections, (repository, changes) =>
      findUnstorableReferences(git, folder(repository), changes),
    ),
    pushOptions: createPushOptionHandler(manager),
    maxPushBytes: () => settings.maxPushMegabytes * 1024 * 1024,
  });
}

/** Composes the work that needs the repositories, which starts when their folder is available. */
export function composeWork(
  deps: RouteDependencies,
  {
    handleJobs,
    releaseAbandoned,
  }: Pick<RepositoryWorkDependencies, 'handleJobs'> & Pick<UpkeepDependencies, 'releaseAbandoned'>,
): { readonly upkeep: RepositoryUpkeep; readonly work: RepositoryWork } {
  const { context, pushControl, storage } = deps;
  const { recovery } = pushControl;
  const upkeep = new RepositoryUpkeep({ ...storage, context, recovery, releaseAbandoned });
  const { repositoriesFolder } = storage;
  const work = new RepositoryWork({ context, repositoriesFolder, recover: () => recover(deps), upkeep, handleJobs });
  return { upkeep, work };
}

/** Composes what a repository has in addition to its branches and tags. */
export function composeFeatures(
  context: Context,
  { git, manager, repositories }: RepositoryStorage,
  lfs: LfsStore,
): RepositoryFeatures {
  const releases = new Releases(context);
  return {
    lfs,
    lastCommits: new LastCommits(git),
    languageSizes: new LanguageSizes(git),
    releases,
    forks: new Forks(context, { git, manager, lfs, repositories }),
    portable: new Portable({ context, git, manager, lfs, releases, repositories }),
  };
}

/** Composes the routes of the app API. */
export function composeAppApi(deps: RouteDependencies): readonly ApiHandler[] {
  return [
    ...repositoryApiRoutes(deps),
    ...branchRoutes(deps),
    ...fileRoutes(deps),
    ...settingsRoutes(deps),
    ...issueRoutes(deps),
    ...pullRequestRoutes(deps),
    ...overviewRoutes(deps),
    ...insightRoutes(deps),
    ...releaseRoutes(deps),
    ...importExportRoutes(deps),
  ].map(withPageMessages);
}

/** Composes the HTTP port: git's protocol, large files, Gitea's API and the pages of visitors. */
export function composeHttp(
  deps: RouteDependencies,
  { transfer, tickets, metrics }: { transfer: Transfer; tickets: LfsTickets; metrics: GitMetrics },
): RequestListener {
  const { context, settings } = deps;
  const { git, manager, owners } = deps.storage;
  const { access, lookup, signIn } = deps.accessControl;
  const routes = giteaApiRoutes(deps);
  return gitListener({
    context,
    publicUrl: () => settings.publicUrl,
    smart: {
      context,
      signIn,
      lookup,
      transfer,
      git,
      folder: (repository) => manager.getFolder(repository),
      createOnPush: (caller, owner, name) => createOnPush({ settings, access, owners, manager }, caller, owner, name),
    },
    lfs: { context, signIn, lookup, store: deps.features.lfs, locks: new Locks(context), tickets },
    api: { router: composeRouter(deps, routes), swagger: buildSwagger(routes) },
    web: async (request, url, base) =>
      (await pullTextAnswer(deps, request, url)) ?? webAnswer(deps, request, url, base),
    visitorPage: (url, links) => renderVisitorPage(deps, url, links),
    recordDuration: (seconds, kind) => metrics.requestDuration.observe(seconds, { kind }),
  });
}

function composeRouter(
  { context, accessControl: { lookup, signIn }, storage: { repositories } }: RouteDependencies,
  routes: readonly Route[],
): ApiRouter {
  return new ApiRouter(
    {
      context,
      signIn,
      findRenamed: async (caller, owner, name) => {
        if ((await repositories.find(owner, name)) !== undefined) return undefined;
        const current = await lookup.findRenamed(caller, owner, name);
        return current === undefined
          ? undefined
          : `${encodeURIComponent(current.owner)}/${encodeURIComponent(current.name)}`;
      },
      level: async (caller, owner, name) => (await lookup.find(caller, owner, name))?.level ?? 'none',
    },
    routes,
  );
}
