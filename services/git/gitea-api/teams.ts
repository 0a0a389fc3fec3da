import { Problem } from '../../contracts/problem.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { OwnerRow } from '../store/tables.ts';
import { organizationJson } from '../wire/organizations.ts';
import { toUserJson } from '../wire/users.ts';
import { getAccount, noContent, ok, type Answer, type Call, type Route } from './call.ts';
import { listHeaders, parseId, parsePage, getPageItems } from './paging.ts';
import { getRepositoryName, toRepositoryView } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl'>;

const units = ['repo.code', 'repo.issues', 'repo.pulls', 'repo.releases'];

/** Builds the routes of members and teams. Each organization has one team, its owners, with the ID of the organization. */
export function teamRoutes(deps: Dependencies): readonly Route[] {
  const { organizations } = deps.accessControl;
  return [
    teamRoute('GET', '/orgs/:org/members', async (call) => listMembers(deps, call, await getByName(deps, call))),
    teamRoute('GET', '/orgs/:org/members/:user', (call) => checkMember(deps, call)),
    teamRoute('DELETE', '/orgs/:org/members/:user', async (call) =>
      removeMember(deps, call, await getByName(deps, call)),
    ),
    // Members are visible to all accounts.
    teamRoute('GET', '/orgs/:org/public_members', async (call) => listMembers(deps, call, await getByName(deps, call))),
    teamRoute('GET', '/orgs/:org/public_members/:user', (call) => checkPublicMember(deps, call)),
    teamRoute('GET', '/orgs/:org/teams', async (call) => ok([teamJson(await getByName(deps, call), call.base)])),
    teamRoute('GET', '/orgs/:org/teams/search', (call) => searchTeams(deps, call)),
    teamRoute('GET', '/user/teams', async (call) =>
      listPage(call, await organizations.listForAccount(getAccount(call)), (row) => teamJson(row, call.base)),
    ),
    teamRoute('GET', '/users/:user/orgs/:org/permissions', (call) => readPermissions(deps, call)),
    teamRoute('GET', '/teams/:id', async (call) => ok(teamJson(await getById(deps, call), call.base))),
    teamRoute('GET', '/teams/:id/repos', (call) => listTeamRepositories(deps, call)),
    teamRoute('GET', '/teams/:id/repos/:owner/:repo', (call) => readTeamRepository(deps, call)),
    teamRoute('GET', '/teams/:id/members', async (call) => listMembers(deps, call, await getById(deps, call))),
    teamRoute('GET', '/teams/:id/members/:user', async (call) =>
      ok(toUserJson(await getMember(deps, call, await getById(deps, call)), call.base)),
    ),
    teamRoute('PUT', '/teams/:id/members/:user', (call) => addTeamMember(deps, call)),
    teamRoute('DELETE', '/teams/:id/members/:user', async (call) =>
      removeMember(deps, call, await getById(deps, call)),
    ),
    teamRoute(
      'GET',
      '/repos/:owner/:repo/teams',
      async (call) => ok([teamJson(await getRepositoryOrganization(deps, call), call.base)]),
      'repository',
    ),
    teamRoute('GET', '/repos/:owner/:repo/teams/:team', (call) => readRepositoryTeam(deps, call), 'repository'),
  ];
}

function teamJson(row: OwnerRow, base: string) {
  return {
    id: row.id,
    name: 'Owners',
    description: '',
    organization: organizationJson(row, base),
    includes_all_repositories: true,
    permission: 'owner',
    can_create_org_repo: true,
    units,
    units_map: Object.fromEntries(units.map((unit) => [unit, 'admin'])),
  };
}

/** @throws Problem (404) unless the row is an organization that is visible to the caller */
async function requireVisible(
  { accessControl: { access } }: Dependencies,
  call: Call,
  row: OwnerRow | undefined,
): Promise<OwnerRow> {
  if (row?.kind !== 'organization' || !(await access.maySeeOrganization(call.caller, row)))
    throw buildNotFoundProblem();
  return row;
}

async function getByName(deps: Dependencies, call: Call) {
  const { owners } = deps.storage;
  return requireVisible(deps, call, await owners.find(call.params['org'] ?? ''));
}

async function getById(deps: Dependencies, call: Call) {
  const { owners } = deps.storage;
  return requireVisible(deps, call, await owners.getById(parseId(call.params['id'])));
}

/** @throws Problem (403) for callers who are neither a member nor an administrator */
async function requireOwner({ accessControl: { access } }: Dependencies, call: Call, row: OwnerRow): Promise<OwnerRow> {
  if (await access.administersOwner(call.caller, row)) return row;
  throw new Problem('git.forbidden', 403, 'Must be an organization owner');
}

async function getAccountRow({ storage: { owners } }: Dependencies, call: Call): Promise<OwnerRow> {
  const row = await owners.find(call.params['user'] ?? '');
  if (row?.kind !== 'account') throw buildNotFoundProblem();
  return row;
}

function listPage<Item>(call: Call, all: readonly Item[], json: (item: Item) => unknown) {
  const page = parsePage(call.query);
  return ok(getPageItems(all, page).map(json), listHeaders(call, page, all.length));
}

async function listMembers(
  { accessControl: { organizations }, storage: { owners } }: Dependencies,
  call: Call,
  row: OwnerRow,
) {
  const rows = await Promise.all((await organizations.members(row.id)).map((name) => owners.getForAccount(name)));
  return listPage(call, rows, (each) => toUserJson(each, call.base));
}

/** @throws Problem (404) unless the account is a member */
async function getMember(deps: Dependencies, call: Call, row: OwnerRow): Promise<OwnerRow> {
  const { organizations } = deps.accessControl;
  const result = await getAccountRow(deps, call);
  if (!(await organizations.members(row.id)).includes(result.name)) throw buildNotFoundProblem();
  return result;
}

async function removeMember(deps: Dependencies, call: Call, row: OwnerRow) {
  const { access, organizations } = deps.accessControl;
  const account = await getAccountRow(deps, call);
  const { name } = account;
  if (!(await access.administersOwner(call.caller, account))) await requireOwner(deps, call, row);
  await organizations.removeMember(row.id, name);
  return noContent;
}

/** Returns the organization that owns the repository. @throws Problem (405) */
async function getRepositoryOrganization(
  { accessControl: { lookup }, storage: { owners } }: Dependencies,
  call: Call,
): Promise<OwnerRow> {
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'read');
  if (repository.ownerKind !== 'organization')
    throw new Problem('git.invalid', 405, 'repo is not owned by an organization');
  return owners.getById(repository.ownerId);
}

function teamRoute(
  method: Route['method'],
  path: string,
  handle: Route['handle'],
  scope: Route['scope'] = 'organization',
): Route {
  return { method, path, scope, signedIn: true, handle };
}

async function checkMember(deps: Dependencies, call: Call): Promise<Answer> {
  await getMember(deps, call, await getByName(deps, call));
  return noContent;
}

async function checkPublicMember(deps: Dependencies, call: Call): Promise<Answer> {
  await getMember(deps, call, await getByName(deps, call));
  return noContent;
}

async function searchTeams(deps: Dependencies, call: Call): Promise<Answer> {
  const row = await getByName(deps, call);
  const isMeant = 'owners'.includes((call.query.get('q') ?? '').toLowerCase());
  return ok({ ok: true, data: isMeant ? [teamJson(row, call.base)] : [] });
}

async function readPermissions(deps: Dependencies, call: Call): Promise<Answer> {
  const { organizations } = deps.accessControl;
  const [row, { name }] = [await getByName(deps, call), await getAccountRow(deps, call)];
  const isOwner = (await organizations.members(row.id)).includes(name);
  const rights = { is_owner: isOwner, is_admin: isOwner, can_write: isOwner, can_read: true };
  return ok({ ...rights, can_create_repository: isOwner });
}

async function listTeamRepositories(deps: Dependencies, call: Call): Promise<Answer> {
  const { access } = deps.accessControl;
  const { repositories } = deps.storage;
  const { id } = await getById(deps, call);
  const page = parsePage(call.query);
  const visibility = await access.getVisibility(call.caller);
  const result = await repositories.list({ visibility, ownerId: id, sort: 'id', ...page });
  const levels = await Promise.all(result.repositories.map((each) => access.getLevel(call.caller, each)));
  const pageItems = await Promise.all(
    result.repositories.map((each, index) => toRepositoryView(deps, call, each, levels[index] ?? 'none')),
  );
  return ok(pageItems, listHeaders(call, page, result.total));
}

async function readTeamRepository(deps: Dependencies, call: Call): Promise<Answer> {
  const { access, lookup } = deps.accessControl;
  const { id } = await getById(deps, call);
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'read');
  if (repository.ownerId !== id) throw buildNotFoundProblem();
  return ok(await toRepositoryView(deps, call, repository, await access.getLevel(call.caller, repository)));
}

async function addTeamMember(deps: Dependencies, call: Call): Promise<Answer> {
  const { organizations } = deps.accessControl;
  const row = await requireOwner(deps, call, await getById(deps, call));
  await organizations.addMember(row.id, (await getAccountRow(deps, call)).name);
  return noContent;
}

async function readRepositoryTeam(deps: Dependencies, call: Call): Promise<Answer> {
  const row = await getRepositoryOrganization(deps, call);
  if ((call.params['team'] ?? '').toLowerCase() !== 'owners') throw buildNotFoundProblem();
  return ok(teamJson(row, call.base));
}
