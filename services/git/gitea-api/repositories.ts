import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { isNewBranchName, validateRepositoryName } from '../domain/names.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import { repositorySorts, type RepositoryQuery, type RepositoryVisibility } from '../repositories/repository-query.ts';
import { addLabels, resolveInitialFiles, fillLicense } from '../repositories/initial-files.ts';
import { createFirstCommit } from '../repositories/first-commit.ts';
import { migrate } from '../repositories/migrate.ts';
import { defaultOptions } from '../repositories/default-options.ts';
import type { OwnerRow } from '../store/tables.ts';
import { getCommitEmail } from '../repositories/commit-email.ts';
import {
  getAccount,
  addCompleteIssue,
  readJsonBody,
  created,
  requireIdentity,
  noContent,
  ok,
  optional,
  required,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { parseFlag, listHeaders, parsePage } from './paging.ts';
import { getRepositoryName, toRepositoryView, visibleOwner } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'pushControl'>;

const description = optional(z.string().max(2048, 'MaxSize'));
const createBody = z.object({
  name: z.string().superRefine((name, context) => {
    const message = validateRepositoryName(name);
    if (message !== undefined) addCompleteIssue(context, message);
  }),
  private: optional(z.boolean()),
  description,
  website: optional(z.string().max(1024)),
  auto_init: optional(z.boolean()),
  template: optional(z.boolean()),
  default_branch: optional(z.string()),
  readme: optional(z.string()),
  gitignores: optional(z.string()),
  license: optional(z.string()),
  issue_labels: optional(z.string()),
});
const changeBody = z.looseObject({
  name: optional(z.string()),
  description,
  website: optional(z.string().max(1024)),
  private: optional(z.boolean()),
  archived: optional(z.boolean()),
  template: optional(z.boolean()),
  default_branch: optional(z.string()),
});
/** Parts of a repository that Gitea migrates from another forge and Homeport does not. */
const migrationParts = ['issues', 'labels', 'milestones', 'pull_requests', 'releases', 'wiki', 'lfs'] as const;
const migrateBody = z.object({
  clone_addr: required,
  repo_name: createBody.shape.name,
  repo_owner: optional(z.string()),
  uid: optional(z.int()),
  private: optional(z.boolean()),
  description,
  auth_username: optional(z.string().max(200)),
  auth_password: optional(z.string().max(1000)),
  auth_token: optional(z.string().max(1000)),
  mirror: optional(z.boolean()),
  service: optional(z.string().max(50)),
  ...Object.fromEntries(migrationParts.map((part) => [part, optional(z.boolean())])),
});

/** Builds the routes of repositories. */
export function repositoryRoutes(deps: Dependencies): readonly Route[] {
  const { owners } = deps.storage;
  return [
    signedInRoute('GET', '/user/repos', 'repository', (call) => listOwnRepositories(deps, call)),
    signedInRoute('POST', '/user/repos', 'repository', async (call) =>
      created(
        await repositoryView(
          deps,
          call,
          await createRepository(deps, call, await owners.getForAccount(getAccount(call))),
        ),
      ),
    ),
    ...['/orgs/:owner/repos', '/org/:owner/repos', '/admin/users/:owner/repos'].map((path): Route =>
      signedInRoute('POST', path, 'repository', async (call) =>
        created(
          await repositoryView(
            deps,
            call,
            await createRepository(deps, call, await getRequestedOwner(deps, call, call.params['owner'] ?? '')),
          ),
        ),
      ),
    ),
    route('GET', '/repos/search', 'repository', (call) => searchRepositories(deps, call)),
    route('GET', '/users/:user/repos', 'repository', (call) => listOwnerRepositories(deps, call)),
    route('GET', '/orgs/:org/repos', 'repository', (call) => listOwnerRepositories(deps, call)),
    signedInRoute('POST', '/repos/migrate', 'repository', (call) => migrateRepository(deps, call)),
    route('GET', '/repos/:owner/:repo', 'repository', (call) => readRepository(deps, call)),
    signedInRoute('PATCH', '/repos/:owner/:repo', 'repository', (call) => changeRepository(deps, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo', 'repository', (call) => deleteRepository(deps, call)),
  ];
}

async function createRepository(
  { context, storage: { git, manager, owners, repositories }, pushControl: { pushes }, settings }: Dependencies,
  call: Call,
  owner: OwnerRow,
): Promise<Repository> {
  const input = await readJsonBody(call, createBody);
  const defaultBranch =
    input.default_branch === undefined || input.default_branch === '' ? settings.defaultBranch : input.default_branch;
  if (!isNewBranchName(defaultBranch)) throw new Problem('git.invalid', 422, '[DefaultBranch]: GitRefName');
  const { gitignores = '', license = '', issue_labels: labels = '' } = input;
  const beginning = resolveInitialFiles({ gitignores, license, labels });
  const repository = await manager.create({
    owner: owner.name,
    ownerKind: owner.kind,
    name: input.name,
    private: input.private ?? settings.defaultPrivate,
    defaultBranch,
    description: input.description ?? '',
    website: input.website ?? '',
    template: input.template ?? false,
  });
  await context.commit((transaction) => addLabels(transaction, repository.id, beginning.labels));
  if (input.auto_init !== true) return repository;
  const account = getAccount(call);
  const row = await owners.getForAccount(account);
  const author = { name: account, email: getCommitEmail(row, call.base) };
  const name = row.full_name === '' ? account : row.full_name;
  const year = new Date(context.clock.now()).getUTCFullYear();
  const change = await createFirstCommit(git, manager.getFolder(repository), repository, author, {
    ...(beginning.gitignore === '' ? {} : { '.gitignore': beginning.gitignore }),
    ...(beginning.license === '' ? {} : { LICENSE: fillLicense(beginning.license, name, year) }),
  });
  await pushes.settle(await pushes.begin(repository, account, [change]), repository, account, [change]);
  return (await repositories.findById(repository.id)) ?? repository;
}

async function repositoryView(deps: Dependencies, call: Call, repository: Repository) {
  const { access } = deps.accessControl;
  return toRepositoryView(deps, call, repository, await access.getLevel(call.caller, repository));
}

async function listPage(deps: Dependencies, call: Call, query: Omit<RepositoryQuery, 'limit' | 'offset'>) {
  const { repositories } = deps.storage;
  const page = parsePage(call.query);
  const { repositories: pageItems, total } = await repositories.list({ ...query, ...page });
  return {
    some: await Promise.all(pageItems.map((each) => repositoryView(deps, call, each))),
    headers: listHeaders(call, page, total),
  };
}

function getVisibility(
  { accessControl: { access } }: Dependencies,
  call: Call,
  onlyOwn: boolean,
): Promise<RepositoryVisibility> {
  return access.getVisibility(call.caller, { onlyOwn });
}

async function getRequestedOwner(deps: Dependencies, call: Call, name: string): Promise<OwnerRow> {
  const { access } = deps.accessControl;
  const owner = await visibleOwner(deps, call.caller, name);
  if (owner === undefined) throw buildNotFoundProblem();
  if (!(await access.administersOwner(call.caller, owner))) {
    throw new Problem('git.forbidden', 403, 'Given user is not owner of organization.');
  }
  return owner;
}

async function searchRepositories(deps: Dependencies, call: Call): Promise<Answer> {
  const { query } = call;
  const sort = query.get('sort') ?? '';
  if (sort !== '' && !(repositorySorts as readonly string[]).includes(sort)) {
    throw new Problem('git.invalid', 422, `Invalid sort mode: ${JSON.stringify(sort)}`);
  }
  const mode = query.get('mode') ?? '';
  const uid = Number(query.get('uid') ?? '') || undefined;
  // Mirrors are not supported, so none match.
  const nothing = mode === 'mirror';
  const { some: pageItems, headers } = await listPage(deps, call, {
    visibility: nothing ? { public: false as const, owners: [], ids: [] } : await getVisibility(deps, call, false),
    ...(query.get('topic') === 'true' ? { topic: query.get('q') ?? '' } : { searchText: query.get('q') ?? '' }),
    inDescription: parseFlag(query, 'includeDesc'),
    ownerId: uid,
    private: parseFlag(query, 'is_private') ?? (parseFlag(query, 'private') === false ? false : undefined),
    fork: mode === 'fork' ? true : mode === 'source' ? false : undefined,
    archived: parseFlag(query, 'archived'),
    template: parseFlag(query, 'template'),
    sort: sort === '' ? undefined : (sort as (typeof repositorySorts)[number]),
    descending: query.get('order') === 'desc',
  });
  return ok({ ok: true, data: pageItems }, headers);
}

async function listOwnerRepositories(deps: Dependencies, call: Call): Promise<Answer> {
  const owner = call.params['user'] ?? call.params['org'] ?? '';
  if ((await visibleOwner(deps, call.caller, owner)) === undefined) throw buildNotFoundProblem();
  const { some: pageItems, headers } = await listPage(deps, call, {
    visibility: await getVisibility(deps, call, false),
    owner,
    sort: 'id',
  });
  return ok(pageItems, headers);
}

async function listOwnRepositories(deps: Dependencies, call: Call): Promise<Answer> {
  const { some: pageItems, headers } = await listPage(deps, call, {
    visibility: await getVisibility(deps, call, true),
    sort: 'id',
  });
  return ok(pageItems, headers);
}

async function migrateRepository(deps: Dependencies, call: Call): Promise<Answer> {
  const { context, settings } = deps;
  const { git, manager, owners, repositories } = deps.storage;
  const input = await readJsonBody(call, migrateBody);
  checkMigration(input);
  const identity = requireIdentity(call.caller);
  const byId = input.uid === undefined || input.uid === 0 ? undefined : (await owners.getById(input.uid)).name;
  const requested = input.repo_owner ?? byId;
  const owner =
    requested === undefined || requested === ''
      ? await owners.getForAccount(identity.account)
      : await getRequestedOwner(deps, call, requested);
  const repository = await migrate(
    {
      context,
      git,
      manager,
      repositories,
      mayReachLocal: settings.migrateFromLocalNetwork || identity.role === 'admin',
    },
    {
      owner: owner.name,
      ownerKind: owner.kind,
      name: input.repo_name,
      private: input.private ?? settings.defaultPrivate,
      defaultBranch: settings.defaultBranch,
      description: input.description ?? '',
    },
    {
      address: input.clone_addr,
      user: input.auth_token === undefined || input.auth_token === '' ? input.auth_username : 'oauth2',
      password: input.auth_token === undefined || input.auth_token === '' ? input.auth_password : input.auth_token,
    },
  );
  return created(await repositoryView(deps, call, repository));
}

async function readRepository(deps: Dependencies, call: Call): Promise<Answer> {
  const { lookup } = deps.accessControl;
  const [owner, name] = getRepositoryName(call);
  const result = await lookup.find(call.caller, owner, name);
  if (result !== undefined) return ok(await toRepositoryView(deps, call, result.repository, result.level));
  throw buildNotFoundProblem();
}

async function changeRepository(deps: Dependencies, call: Call): Promise<Answer> {
  const { lookup } = deps.accessControl;
  const { repositories } = deps.storage;
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'admin');
  await change(deps.storage, repository, await readJsonBody(call, changeBody));
  return ok(await repositoryView(deps, call, (await repositories.findById(repository.id)) ?? repository));
}

async function deleteRepository(deps: Dependencies, call: Call): Promise<Answer> {
  const { access, lookup } = deps.accessControl;
  const { manager, owners } = deps.storage;
  const refuse = () => new Problem('git.forbidden', 403, 'user should be an owner of the repository');
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'admin', refuse);
  if (!(await access.administersOwner(call.caller, await owners.getById(repository.ownerId)))) throw refuse();
  await deps.storage.objects.close(manager.getFolder(repository));
  await manager.remove(repository);
  return noContent;
}

/**
 * Refuses parts that are not migrated, because the caller could delete the original afterwards.
 *
 * @throws Problem (403) for a mirror, as Gitea answers with mirrors disabled, (422) for parts other than branches and tags
 */
function checkMigration(input: z.infer<typeof migrateBody>): void {
  if (input.mirror === true) throw new Problem('git.forbidden', 403, 'the site administrator has disabled mirrors');
  // A plain git repository has none of these parts, and Gitea ignores them.
  const isForge = !['', 'git', 'plain', '1'].includes((input.service ?? '').toLowerCase());
  const requested: Readonly<Record<string, unknown>> = input;
  const missing = migrationParts.filter(
    (part) => requested[part] === true && (isForge || part === 'lfs' || part === 'wiki'),
  );
  if (missing.length === 0) return;
  const detail = `only branches and tags are migrated; these parts are not: ${missing.join(', ')}`;
  throw new Problem('git.invalid', 422, detail);
}

async function change(
  { git, manager, objects }: Pick<RepositoryStorage, 'git' | 'manager' | 'objects'>,
  repository: Repository,
  input: z.infer<typeof changeBody>,
): Promise<void> {
  const { name, default_branch: branch } = input;
  if (branch !== undefined && branch !== repository.defaultBranch) {
    const folder = manager.getFolder(repository);
    const exists = repository.empty
      ? isNewBranchName(branch)
      : (await objects.findCommit(folder, `refs/heads/${branch}`)) !== undefined;
    if (!exists) throw new Problem('git.unknown_branch', 422, `branch does not exist [name: ${branch}]`);
    await git.run(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  }
  if (name !== undefined && name !== '' && name !== repository.name) {
    const nameProblem = validateRepositoryName(name);
    if (nameProblem !== undefined) throw new Problem('git.invalid', 422, nameProblem);
    await manager.rename(repository, { name });
  }
  const existing = Object.keys(defaultOptions);
  const options = Object.fromEntries(
    Object.entries(input).filter(([key, value]) => existing.includes(key) && value !== null),
  );
  const flags = { private: input.private, archived: input.archived, template: input.template };
  await manager.change(repository.id, {
    ...(input.description === undefined ? {} : { description: input.description }),
    ...(input.website === undefined ? {} : { website: input.website }),
    ...(branch === undefined ? {} : { default_branch: branch }),
    ...Object.fromEntries(
      Object.entries(flags).flatMap(([key, value]) => (value === undefined ? [] : [[key, Number(value)]])),
    ),
    options: JSON.stringify({ ...repository.options, ...options }),
  });
}
