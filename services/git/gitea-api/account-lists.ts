import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import { formatTime } from '../wire/time.ts';
import { toUserJson } from '../wire/users.ts';
import { ok, route, type Answer, type Call, type Route } from './call.ts';
import { listHeaders, parsePage, getPageItems } from './paging.ts';
import { getRepositoryName, toRepositoryView } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl'>;

/** Builds the routes of assignees and reviewers, and of starred and watched repositories of an account. */
export function accountListRoutes(deps: Dependencies): readonly Route[] {
  const { db } = deps.storage;
  return [
    getRoute('/repos/:owner/:repo/assignees', 'repository', (call) => listWriters(deps, call)),
    getRoute('/repos/:owner/:repo/reviewers', 'repository', (call) => listWriters(deps, call)),
    getRoute('/users/:user/starred', 'user', async (call) =>
      listReadable(
        deps,
        call,
        await db
          .selectFrom('stars')
          .select('repository_id as id')
          .where('account', '=', await getAccountName(deps, call))
          .execute(),
      ),
    ),
    getRoute('/users/:user/subscriptions', 'user', async (call) =>
      listReadable(
        deps,
        call,
        await db
          .selectFrom('repository_watches')
          .select('repository_id as id')
          .where('account', '=', await getAccountName(deps, call))
          .execute(),
      ),
    ),
    getRoute('/users/:user/keys', 'user', (call) => listUserKeys(deps, call)),
    route('GET', '/repositories/:id', 'repository', (call) => readRepositoryById(deps, call)),
  ];
}

/** Lists the accounts that may write: the owner, members of the organization and collaborators. */
async function listWriters(
  { accessControl: { collaborators, lookup, organizations }, context, storage: { owners } }: Dependencies,
  call: Call,
) {
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'read');
  const writersByGrant = (await collaborators.list(repository.id)).filter(({ permission }) => permission !== 'read');
  const owning =
    repository.ownerKind === 'account' ? [repository.owner] : await organizations.members(repository.ownerId);
  const names = new Set([...owning, ...writersByGrant.map(({ account }) => account)]);
  const accounts = await Promise.all([...names].map((name) => context.accounts.find(name)));
  const existing = [...names].filter((_name, index) => accounts[index] !== undefined);
  const rows = await Promise.all(existing.map((name) => owners.getForAccount(name)));
  return ok(rows.map((row) => toUserJson(row, call.base)));
}

async function getAccountName({ storage: { owners } }: Dependencies, call: Call): Promise<string> {
  const row = await owners.find(call.params['user'] ?? '');
  if (row?.kind !== 'account') throw buildNotFoundProblem();
  return row.name;
}

/** Lists the repositories that the caller may read. */
async function listReadable(deps: Dependencies, call: Call, ids: readonly { readonly id: number }[]) {
  const { access } = deps.accessControl;
  const { repositories } = deps.storage;
  const rows = await Promise.all(ids.map(({ id }) => repositories.findById(id)));
  const visible: { readonly repository: Repository; readonly level: 'read' | 'write' | 'admin' }[] = [];
  for (const repository of rows) {
    const level = repository === undefined ? 'none' : await access.getLevel(call.caller, repository);
    if (repository !== undefined && level !== 'none') visible.push({ repository, level });
  }
  const page = parsePage(call.query);
  const views = await Promise.all(
    getPageItems(visible, page).map(({ repository, level }) => toRepositoryView(deps, call, repository, level)),
  );
  return ok(views, listHeaders(call, page, visible.length));
}

/** Builds a route for accounts: like Gitea, visitors see neither accounts nor their keys. */
function getRoute(path: string, scope: Route['scope'], handle: Route['handle']): Route {
  return {
    method: 'GET',
    path,
    scope,
    signedIn: true,
    handle,
  };
}

async function listUserKeys(deps: Dependencies, call: Call): Promise<Answer> {
  const { keys } = deps.accessControl;
  const all = await keys.listForAccount(await getAccountName(deps, call));
  const page = parsePage(call.query);
  const views = getPageItems(all, page).map(({ id, title, text, fingerprint, created_at }) => ({
    id,
    key: text,
    title,
    fingerprint,
    url: `${call.base}/api/v1/user/keys/${id}`,
    created_at: formatTime(created_at),
    key_type: 'user',
  }));
  return ok(views, listHeaders(call, page, all.length));
}

async function readRepositoryById(deps: Dependencies, call: Call): Promise<Answer> {
  const { access } = deps.accessControl;
  const { repositories } = deps.storage;
  const repository = await repositories.findById(Number(call.params['id']) || 0);
  const level = repository === undefined ? 'none' : await access.getLevel(call.caller, repository);
  if (repository === undefined || level === 'none') throw buildNotFoundProblem();
  return ok(await toRepositoryView(deps, call, repository, level));
}
