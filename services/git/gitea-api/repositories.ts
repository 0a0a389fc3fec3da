import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { isNewBranchName, repositoryNameProblem } from '../domain/names.ts';
import { unknown } from '../repositories/lookup.ts';
import { sorts, type Repository, type RepositoryQuery, type Sight } from '../repositories/repositories.ts';
import { addLabels, beginningOf, licenseFor } from '../repositories/initial-files.ts';
import { firstCommit } from '../repositories/first-commit.ts';
import { migrate } from '../repositories/migrate.ts';
import { defaultOptions } from '../wire/repositories.ts';
import type { OwnerRow } from '../store/tables.ts';
import { emailOf } from '../wire/users.ts';
import {
  accountOf,
  addCompleteIssue,
  bodyOf,
  created,
  needIdentity,
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
import { flag, listHeaders, pageOf } from './paging.ts';
import { named, shown, visibleOwner, type RestParts } from './api-dependencies.ts';

const description = optional(z.string().max(2048, 'MaxSize'));
const createBody = z.object({
  name: z.string().superRefine((name, context) => {
    const message = repositoryNameProblem(name);
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
/** What Gitea can copy of another forge, and Homeport cannot. */
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

/** Repositories: made, found, changed, given away and removed. */
export function repositoryRoutes(parts: RestParts): readonly Route[] {
  const { owners } = parts;
  return [
    signedInRoute('GET', '/user/repos', 'repository', (call) => listOwnRepositories(parts, call)),
    signedInRoute('POST', '/user/repos', 'repository', async (call) =>
      created(
        await repositoryView(parts, call, await createRepository(parts, call, await owners.ofAccount(accountOf(call)))),
      ),
    ),
    ...['/orgs/:owner/repos', '/org/:owner/repos', '/admin/users/:owner/repos'].map((path): Route =>
      signedInRoute('POST', path, 'repository', async (call) =>
        created(
          await repositoryView(
            parts,
            call,
            await createRepository(parts, call, await getRequestedOwner(parts, call, call.params['owner'] ?? '')),
          ),
        ),
      ),
    ),
    route('GET', '/repos/search', 'repository', (call) => searchRepositories(parts, call)),
    route('GET', '/users/:user/repos', 'repository', (call) => listOwnerRepositories(parts, call)),
    route('GET', '/orgs/:org/repos', 'repository', (call) => listOwnerRepositories(parts, call)),
    signedInRoute('POST', '/repos/migrate', 'repository', (call) => migrateRepository(parts, call)),
    route('GET', '/repos/:owner/:repo', 'repository', (call) => readRepository(parts, call)),
    signedInRoute('PATCH', '/repos/:owner/:repo', 'repository', (call) => changeRepository(parts, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo', 'repository', (call) => deleteRepository(parts, call)),
  ];
}

async function createRepository(
  { context, git, keeper, owners, pushes, repositories, settings }: RestParts,
  call: Call,
  owner: OwnerRow,
): Promise<Repository> {
  const asked = await bodyOf(call, createBody);
  const defaultBranch =
    asked.default_branch === undefined || asked.default_branch === '' ? settings.defaultBranch : asked.default_branch;
  if (!isNewBranchName(defaultBranch)) throw new Problem('git.invalid', 422, '[DefaultBranch]: GitRefName');
  const { gitignores = '', license = '', issue_labels: labels = '' } = asked;
  const beginning = beginningOf({ gitignores, license, labels });
  const repository = await keeper.create({
    owner: owner.name,
    ownerKind: owner.kind,
    name: asked.name,
    private: asked.private ?? settings.defaultPrivate,
    defaultBranch,
    description: asked.description ?? '',
    website: asked.website ?? '',
    template: asked.template ?? false,
  });
  await context.commit((transaction) => addLabels(transaction, repository.id, beginning.labels));
  if (asked.auto_init !== true) return repository;
  const account = accountOf(call);
  const row = await owners.ofAccount(account);
  const author = { name: account, email: emailOf(row, call.base) };
  const name = row.full_name === '' ? account : row.full_name;
  const year = new Date(context.clock.now()).getUTCFullYear();
  const change = await firstCommit(git, keeper.folder(repository), repository, author, {
    ...(beginning.gitignore === '' ? {} : { '.gitignore': beginning.gitignore }),
    ...(beginning.license === '' ? {} : { LICENSE: licenseFor(beginning.license, name, year) }),
  });
  await pushes.settle(await pushes.begin(repository, account, [change]), repository, account, [change]);
  return (await repositories.byId(repository.id)) ?? repository;
}

async function repositoryView(parts: RestParts, call: Call, repository: Repository) {
  const { access } = parts;
  return shown(parts, call, repository, await access.level(call.visitor, repository));
}

async function listPage(parts: RestParts, call: Call, query: Omit<RepositoryQuery, 'limit' | 'offset'>) {
  const { repositories } = parts;
  const page = pageOf(call.query);
  const { repositories: some, total } = await repositories.list({ ...query, ...page });
  return {
    some: await Promise.all(some.map((each) => repositoryView(parts, call, each))),
    headers: listHeaders(call, page, total),
  };
}

function getVisibility({ access }: RestParts, call: Call, own: boolean): Promise<Sight> {
  return access.sight(call.visitor, { own });
}

async function getRequestedOwner(parts: RestParts, call: Call, name: string): Promise<OwnerRow> {
  const { access } = parts;
  const owner = await visibleOwner(parts, call.visitor, name);
  if (owner === undefined) throw unknown();
  if (!(await access.administersOwner(call.visitor, owner))) {
    throw new Problem('git.forbidden', 403, 'Given user is not owner of organization.');
  }
  return owner;
}

async function searchRepositories(parts: RestParts, call: Call): Promise<Answer> {
  const { query } = call;
  const sort = query.get('sort') ?? '';
  if (sort !== '' && !(sorts as readonly string[]).includes(sort)) {
    throw new Problem('git.invalid', 422, `Invalid sort mode: ${JSON.stringify(sort)}`);
  }
  const mode = query.get('mode') ?? '';
  const uid = Number(query.get('uid') ?? '') || undefined;
  // There are no mirrors here.
  const nothing = mode === 'mirror';
  const { some, headers } = await listPage(parts, call, {
    sight: nothing ? { public: false as const, owners: [], ids: [] } : await getVisibility(parts, call, false),
    ...(query.get('topic') === 'true' ? { topic: query.get('q') ?? '' } : { words: query.get('q') ?? '' }),
    inDescription: flag(query, 'includeDesc'),
    ownerId: uid,
    private: flag(query, 'is_private') ?? (flag(query, 'private') === false ? false : undefined),
    fork: mode === 'fork' ? true : mode === 'source' ? false : undefined,
    archived: flag(query, 'archived'),
    template: flag(query, 'template'),
    sort: sort === '' ? undefined : (sort as (typeof sorts)[number]),
    descending: query.get('order') === 'desc',
  });
  return ok({ ok: true, data: some }, headers);
}

async function listOwnerRepositories(parts: RestParts, call: Call): Promise<Answer> {
  const owner = call.params['user'] ?? call.params['org'] ?? '';
  if ((await visibleOwner(parts, call.visitor, owner)) === undefined) throw unknown();
  const { some, headers } = await listPage(parts, call, {
    sight: await getVisibility(parts, call, false),
    owner,
    sort: 'id',
  });
  return ok(some, headers);
}

async function listOwnRepositories(parts: RestParts, call: Call): Promise<Answer> {
  const { some, headers } = await listPage(parts, call, { sight: await getVisibility(parts, call, true), sort: 'id' });
  return ok(some, headers);
}

async function migrateRepository(parts: RestParts, call: Call): Promise<Answer> {
  const { context, git, keeper, owners, repositories, settings } = parts;
  const asked = await bodyOf(call, migrateBody);
  checkMigration(asked);
  const identity = needIdentity(call.visitor);
  const byId = asked.uid === undefined || asked.uid === 0 ? undefined : (await owners.byId(asked.uid)).name;
  const wanted = asked.repo_owner ?? byId;
  const owner =
    wanted === undefined || wanted === ''
      ? await owners.ofAccount(identity.account)
      : await getRequestedOwner(parts, call, wanted);
  const repository = await migrate(
    {
      context,
      git,
      keeper,
      repositories,
      mayReachLocal: settings.migrateFromLocalNetwork || identity.role === 'admin',
    },
    {
      owner: owner.name,
      ownerKind: owner.kind,
      name: asked.repo_name,
      private: asked.private ?? settings.defaultPrivate,
      defaultBranch: settings.defaultBranch,
      description: asked.description ?? '',
    },
    {
      address: asked.clone_addr,
      user: asked.auth_token === undefined || asked.auth_token === '' ? asked.auth_username : 'oauth2',
      password: asked.auth_token === undefined || asked.auth_token === '' ? asked.auth_password : asked.auth_token,
    },
  );
  return created(await repositoryView(parts, call, repository));
}

async function readRepository(parts: RestParts, call: Call): Promise<Answer> {
  const { lookup } = parts;
  const [owner, name] = named(call);
  const found = await lookup.find(call.visitor, owner, name);
  if (found !== undefined) return ok(await shown(parts, call, found.repository, found.level));
  throw unknown();
}

async function changeRepository(parts: RestParts, call: Call): Promise<Answer> {
  const { lookup, repositories } = parts;
  const repository = await lookup.need(call.visitor, named(call), 'admin');
  await change(parts, repository, await bodyOf(call, changeBody));
  return ok(await repositoryView(parts, call, (await repositories.byId(repository.id)) ?? repository));
}

async function deleteRepository(parts: RestParts, call: Call): Promise<Answer> {
  const { access, keeper, lookup, owners } = parts;
  const refuse = () => new Problem('git.forbidden', 403, 'user should be an owner of the repository');
  const repository = await lookup.need(call.visitor, named(call), 'admin', refuse);
  if (!(await access.administersOwner(call.visitor, await owners.byId(repository.ownerId)))) throw refuse();
  await parts.objects.close(keeper.folder(repository));
  await keeper.remove(repository);
  return noContent;
}

/**
 * Refuses what a migration would leave out: a person who asks for it may delete the original afterwards.
 * @throws Problem (403) for a mirror as a peer without mirrors has it, (422) for parts besides branches and tags
 */
function checkMigration(asked: z.infer<typeof migrateBody>): void {
  if (asked.mirror === true) throw new Problem('git.forbidden', 403, 'the site administrator has disabled mirrors');
  // Of a plain repository there are none of these parts, and the peer ignores them.
  const isForge = !['', 'git', 'plain', '1'].includes((asked.service ?? '').toLowerCase());
  const wanted: Readonly<Record<string, unknown>> = asked;
  const missing = migrationParts.filter(
    (part) => wanted[part] === true && (isForge || part === 'lfs' || part === 'wiki'),
  );
  if (missing.length === 0) return;
  const detail = `only branches and tags are migrated; these parts are not: ${missing.join(', ')}`;
  throw new Problem('git.invalid', 422, detail);
}

async function change(
  { git, keeper, objects }: Pick<RestParts, 'git' | 'keeper' | 'objects'>,
  repository: Repository,
  asked: z.infer<typeof changeBody>,
): Promise<void> {
  const { name, default_branch: branch } = asked;
  if (branch !== undefined && branch !== repository.defaultBranch) {
    const folder = keeper.folder(repository);
    const there = repository.empty
      ? isNewBranchName(branch)
      : (await objects.commitOf(folder, `refs/heads/${branch}`)) !== undefined;
    if (!there) throw new Problem('git.unknown_branch', 422, `branch does not exist [name: ${branch}]`);
    await git.run(folder, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  }
  if (name !== undefined && name !== '' && name !== repository.name) {
    const wrong = repositoryNameProblem(name);
    if (wrong !== undefined) throw new Problem('git.invalid', 422, wrong);
    await keeper.rename(repository, { name });
  }
  const known = Object.keys(defaultOptions);
  const options = Object.fromEntries(
    Object.entries(asked).filter(([key, value]) => known.includes(key) && value !== null),
  );
  const flags = { private: asked.private, archived: asked.archived, template: asked.template };
  await keeper.change(repository.id, {
    ...(asked.description === undefined ? {} : { description: asked.description }),
    ...(asked.website === undefined ? {} : { website: asked.website }),
    ...(branch === undefined ? {} : { default_branch: branch }),
    ...Object.fromEntries(
      Object.entries(flags).flatMap(([key, value]) => (value === undefined ? [] : [[key, Number(value)]])),
    ),
    options: JSON.stringify({ ...repository.options, ...options }),
  });
}
