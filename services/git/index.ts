import type { Kysely } from 'kysely';
import { Problem } from '../contracts/problem.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { repositoryNameProblem } from './domain/names.ts';
import { Git } from './engine/git.ts';
import { Framing } from './hooks/payload-builder.ts';
import { Hooks } from './hooks/hooks.ts';
import { issueEvents } from './hooks/issue-events.ts';
import { pushEvents } from './hooks/push-events.ts';
import { sendDeliveries } from './hooks/webhook-delivery.ts';
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
import { issuesAfterPush } from './pulls/after-push.ts';
import { Comparisons } from './pulls/comparisons.ts';
import { Merges } from './pulls/merge.ts';
import { cleanMergeAreas } from './pulls/merge-area.ts';
import { MergeRules } from './pulls/merge-rules.ts';
import { Pulls } from './pulls/pulls.ts';
import { Portable } from './portable/portable.ts';
import { pushNotices } from './push-notifications.ts';
import { Protections, type Pusher, type Verdict } from './protection/protections.ts';
import { reservedReferences } from './protection/reserved-references.ts';
import { TagProtections } from './protection/tag-protections.ts';
import { Releases } from './releases/releases.ts';
import { gitAccountData } from './repositories/account-data.ts';
import { Access } from './repositories/access.ts';
import { backupRepositories, copyRepositories, reconcileRestored, restoreRepositories } from './repositories/backup.ts';
import { Collaborators } from './repositories/collaborators.ts';
import { Forks } from './repositories/forks.ts';
import { rememberPushes } from './repositories/history.ts';
import { RepositoryManager } from './repositories/repository-manager.ts';
import { LastCommits } from './repositories/last-commits.ts';
import { Lookup } from './repositories/lookup.ts';
import { Objects } from './repositories/objects.ts';
import { Organizations } from './repositories/organizations.ts';
import { Owners } from './repositories/owners.ts';
import { Repositories, type Repository } from './repositories/repositories.ts';
import { Upkeep } from './repositories/maintenance.ts';
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
import { visitorPage } from './visitors/pages.ts';
import { hostKeys } from './ssh/host-keys.ts';
import { Keys } from './ssh/keys.ts';
import { SshServer } from './ssh/server.ts';
import { Statuses } from './statuses/statuses.ts';
import type { Tables } from './store/tables.ts';
import type { RefChange } from './transfer/push-request.ts';
import { pushOptions } from './transfer/push-options.ts';
import { Pushes } from './transfer/pushes.ts';
import { Transfer } from './transfer/transfer.ts';

/** Git hosting: repositories over HTTP and SSH, with Gitea's API. */
export const git = defineService({
  ...manifest,
  create,
});

const minute = 60_000;

function create(context: Context, given: Settings): Service {
  const live = createLiveSettings(given);
  const settings = live.current;
  const { accounts, clock, log } = context;
  const db: Kysely<Tables> = context.db;
  const open = new DisposableStack();
  const engine = new Git(context, settings.gitPath);
  const objects = new Objects(engine, clock);
  const repositories = new Repositories(db);
  const owners = new Owners(context, repositories);
  const manager = new RepositoryManager(context, engine, repositories);
  const folder = (repository: Pick<Repository, 'folder'>): string => manager.folder(repository);
  const tokens = new Tokens(context);
  const keys = new Keys(context);
  const signIn = new SignIn(context, tokens);
  const access = new Access({ accounts, db, repositories, requireSignIn: () => settings.requireSignIn });
  const lookup = new Lookup(repositories, access);
  const lfs = new LfsStore(context, { quota: () => settings.lfsQuotaMegabytes * 1024 * 1024 });
  const tickets = new LfsTickets(context, signIn, keys);
  const notices = pushNotices({
    context,
    branches: () => settings.noticeBranches,
    git: engine,
    find: (id) => repositories.byId(id),
    folder,
  });
  const hooks = new Hooks(context);
  const framing = new Framing({
    context,
    publicUrl: () => settings.publicUrl,
    owners,
    repositories,
    ssh: (base) => ssh(base),
  });
  const find = (id: number): Promise<Repository | undefined> => repositories.byId(id);
  const hookEvents = pushEvents({ context, git: engine, hooks, framing, find, folder });
  const consequences = [notices.consequence, hookEvents.consequence, rememberPushes(clock)];
  const protections = new Protections(context);
  const tagProtections = new TagProtections(context);
  const statuses = new Statuses(context);
  const issues = new Issues(db, repositories);
  const issueHooks = issueEvents(context, hooks);
  const writer = new IssueWriter({ context, listeners: [issueHooks.listener] });
  const comparisons = new Comparisons(context, engine);
  const pullParts = { comparisons, db, folder, git: engine, objects, repositories, writer };
  const pulls = new Pulls(pullParts);
  const pushes = new Pushes({
    context,
    git: engine,
    repositories,
    folder,
    consequences,
    preparations: [issuesAfterPush({ ...pullParts, protections, pulls })],
  });
  const mayWriteTo = async (repository: Repository, account: string): Promise<boolean> =>
    mayWrite(await getLevelOfAccount({ access, signIn }, account, repository));
  const rules = new MergeRules({ db, protections, statuses, mayWrite: mayWriteTo });
  const merges = new Merges({ ...pullParts, context, issues, protections, pulls, pushes, rules });
  const judge = async (repository: Repository, changes: readonly RefChange[], pusher: Pusher): Promise<Verdict> => {
    const { addOnly, refused } = await protections.judge(repository.id, changes, pusher);
    const tags = await tagProtections.refused(repository.id, changes, pusher);
    return { addOnly, refused: new Map([...reservedReferences(repository, changes), ...refused, ...tags]) };
  };
  const transfer = new Transfer({
    context,
    git: engine,
    folder,
    pushes,
    rules: async (repository, { changes }, pusher) =>
      repository.archived
        ? { refused: new Map(changes.map(({ ref }) => [ref, 'this repository is archived'])), addOnly: [] }
        : judge(repository, changes, pusher),
    pushOptions: pushOptions(manager),
    maxPushBytes: () => settings.maxPushMegabytes * 1024 * 1024,
  });
  const metrics = createGitMetrics(context, repositories);

  const createOnPush = async (caller: Caller, owner: string, name: string): Promise<Repository | undefined> => {
    if (!settings.createOnPush || repositoryNameProblem(name) !== undefined) return undefined;
    const found = await owners.find(owner);
    if (found === undefined || !(await access.administersOwner(caller, found))) return undefined;
    return manager.create({
      owner: found.name,
      ownerKind: found.kind,
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
  const parts: ContentDependencies & HookDependencies = {
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
    framing,
    lfs,
    protections,
    tagProtections,
    statuses,
    collaborators: new Collaborators(context),
    organizations: new Organizations(context),
    forks: new Forks(context, { git: engine, manager, lfs, repositories }),
    releases: new Releases(context),
  };
  const portable = new Portable({ context, git: engine, manager, lfs, releases: parts.releases, repositories });
  const issueParts = { ...parts, db, issues, writer, pulls, merges, rules };
  const moved = async (caller: Caller, owner: string, name: string): Promise<string | undefined> => {
    if ((await repositories.find(owner, name)) !== undefined) return undefined;
    const now = await lookup.renamed(caller, owner, name);
    return now === undefined ? undefined : `${encodeURIComponent(now.owner)}/${encodeURIComponent(now.name)}`;
  };
  const routes = giteaApiRoutes({ ...issueParts, portable });
  const level: GetLevel = async (caller, owner, name) => (await lookup.find(caller, owner, name))?.level ?? 'none';
  const api = new Router({ context, signIn, moved, level }, routes);
  const lfsAddress = (repository: Repository): string => {
    const { base, full } = framing.place(repository);
    return `${base}/${full}.git/info/lfs`;
  };
  let sshServer: SshServer | undefined;
  let upkeep: Upkeep | undefined;
  let missing: Problem | undefined;

  const accountData = gitAccountData({ context, manager, objects, owners, repositories });
  let collisions: readonly string[] = [];
  const complain = (error: unknown): void => log.error('metrics refresh failed', { error });

  return {
    http: gitListener({
      context,
      publicUrl: () => settings.publicUrl,
      smart: { context, signIn, lookup, transfer, git: engine, folder, createOnPush },
      lfs: { context, signIn, lookup, store: lfs, locks: new Locks(context), tickets },
      api,
      web: async (request, url, base) =>
        (await pullTextAnswer(issueParts, request, url)) ?? webAnswer(parts, request, url, base),
      visitorPage: (url, links) => visitorPage(issueParts, url, links),
      swagger: buildSwagger(routes),
      took: (seconds, kind) => metrics.took.observe(seconds, { kind }),
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
      ...repositoryApiRoutes(parts),
      ...branchRoutes(issueParts),
      ...fileRoutes(issueParts),
      ...settingsRoutes(parts),
      ...issueRoutes(issueParts),
      ...pullRequestRoutes(issueParts),
      ...overviewRoutes(issueParts),
      ...releaseRoutes({ ...issueParts, portable }),
      ...importExportRoutes({ ...issueParts, portable }),
    ].map(withPageMessages),

    async start() {
      try {
        await engine.open();
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        missing = error;
        log.error('git unavailable', { error });
        return;
      }
      await reconcileRestored({ context, git: engine }, folder);
      await manager.clean(db);
      await cleanMergeAreas(context.files);
      await lfs.clean();
      await portable.clean();
      await pushes.recover();
      await merges.forgetUnmade();
      await hooks.sealAddresses();
      await pulls.recover();
      collisions = await parts.organizations.claimNames();
      for (const account of await owners.abandoned()) {
        await accountData.release(account, { action: 'keep', as: `${account} (removed)` });
      }
      sshServer = open.use(
        new SshServer({ context, keys, signIn, lookup, transfer, tickets, lfsAddress }, await hostKeys(context.files)),
      );
      upkeep = new Upkeep({ context, git: engine, find, folder });
      open.use(notices.handle());
      open.use(hookEvents.handle());
      open.use(issueHooks.handle({ context, db, find, framing, issues, owners, pulls }));
      open.use(sendDeliveries({ context, hooks, mayReachLocal: () => settings.hooksToLocalNetwork }));
      await metrics.refresh();
      open.use(clock.every(minute, () => void metrics.refresh().catch(complain)));
    },

    async backup(target) {
      // Without git no pushes are possible, so the folders can be copied.
      if (missing !== undefined) return copyRepositories(context.files, target);
      const save = (): Promise<void> => backupRepositories({ context, git: engine }, target);
      await (upkeep === undefined ? save() : upkeep.without(save));
    },

    accountData,

    restore: (source) => restoreRepositories({ context }, source),

    async health(): Promise<Health> {
      if (missing !== undefined) return { state: 'degraded', detail: missing.detail };
      if (collisions.length > 0) {
        const detail = `${collisions.join(', ')}: an organization and an account have the same name; rename one of them`;
        return { state: 'degraded', detail };
      }
      const count = await repositories.count();
      const begin = { label: 'Make a first repository', to: '/git' };
      const detail = count === 0 ? 'no repositories yet' : count === 1 ? '1 repository' : `${count} repositories`;
      return { state: 'up', detail, ...(count === 0 ? { begin } : {}) };
    },

    async [Symbol.asyncDispose]() {
      open.dispose();
      await upkeep?.[Symbol.asyncDispose]();
      await objects[Symbol.asyncDispose]();
    },
  };
}
