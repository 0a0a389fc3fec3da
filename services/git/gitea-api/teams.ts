import { Problem } from '../../contracts/problem.ts';
import { unknown } from '../repositories/lookup.ts';
import type { OwnerRow } from '../store/tables.ts';
import { organizationJson } from '../wire/organizations.ts';
import { userOf } from '../wire/users.ts';
import { accountOf, noContent, ok, type Answer, type Call, type Route } from './call.ts';
import { listHeaders, numberOf, pageOf, partOf } from './paging.ts';
import { named, shown, type RestParts } from './api-dependencies.ts';

const units = ['repo.code', 'repo.issues', 'repo.pulls', 'repo.releases'];

/** Members of organisations. Each organisation has one team, its owners, whose number is the organisation's. */
export function teamRoutes(parts: RestParts): readonly Route[] {
  const { organizations } = parts;
  return [
    teamRoute('GET', '/orgs/:org/members', async (call) => listMembers(parts, call, await getByName(parts, call))),
    teamRoute('GET', '/orgs/:org/members/:user', (call) => checkMember(parts, call)),
    teamRoute('DELETE', '/orgs/:org/members/:user', async (call) =>
      removeMember(parts, call, await getByName(parts, call)),
    ),
    // Who is a member is no secret among accounts.
    teamRoute('GET', '/orgs/:org/public_members', async (call) =>
      listMembers(parts, call, await getByName(parts, call)),
    ),
    teamRoute('GET', '/orgs/:org/public_members/:user', (call) => checkPublicMember(parts, call)),
    teamRoute('GET', '/orgs/:org/teams', async (call) => ok([teamJson(await getByName(parts, call), call.base)])),
    teamRoute('GET', '/orgs/:org/teams/search', (call) => searchTeams(parts, call)),
    teamRoute('GET', '/user/teams', async (call) =>
      listPage(call, await organizations.ofAccount(accountOf(call)), (row) => teamJson(row, call.base)),
    ),
    teamRoute('GET', '/users/:user/orgs/:org/permissions', (call) => readPermissions(parts, call)),
    teamRoute('GET', '/teams/:id', async (call) => ok(teamJson(await getById(parts, call), call.base))),
    teamRoute('GET', '/teams/:id/repos', (call) => listTeamRepositories(parts, call)),
    teamRoute('GET', '/teams/:id/repos/:owner/:repo', (call) => readTeamRepository(parts, call)),
    teamRoute('GET', '/teams/:id/members', async (call) => listMembers(parts, call, await getById(parts, call))),
    teamRoute('GET', '/teams/:id/members/:user', async (call) =>
      ok(userOf(await getMember(parts, call, await getById(parts, call)), call.base)),
    ),
    teamRoute('PUT', '/teams/:id/members/:user', (call) => addTeamMember(parts, call)),
    teamRoute('DELETE', '/teams/:id/members/:user', async (call) =>
      removeMember(parts, call, await getById(parts, call)),
    ),
    teamRoute(
      'GET',
      '/repos/:owner/:repo/teams',
      async (call) => ok([teamJson(await getRepositoryOrganization(parts, call), call.base)]),
      'repository',
    ),
    teamRoute('GET', '/repos/:owner/:repo/teams/:team', (call) => readRepositoryTeam(parts, call), 'repository'),
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

/** @throws Problem (404) for what is no organization that the caller may know of */
async function requireVisible({ access }: RestParts, call: Call, row: OwnerRow | undefined): Promise<OwnerRow> {
  if (row?.kind !== 'organization' || !(await access.seesOrganization(call.visitor, row))) throw unknown();
  return row;
}

async function getByName(parts: RestParts, call: Call) {
  const { owners } = parts;
  return requireVisible(parts, call, await owners.find(call.params['org'] ?? ''));
}

async function getById(parts: RestParts, call: Call) {
  const { owners } = parts;
  return requireVisible(parts, call, await owners.byId(numberOf(call.params['id'])));
}

/** @throws Problem (403) for callers who are neither a member nor an administrator */
async function requireOwner({ access }: RestParts, call: Call, row: OwnerRow): Promise<OwnerRow> {
  if (await access.administersOwner(call.visitor, row)) return row;
  throw new Problem('git.forbidden', 403, 'Must be an organization owner');
}

async function getAccountRow({ owners }: RestParts, call: Call): Promise<OwnerRow> {
  const row = await owners.find(call.params['user'] ?? '');
  if (row?.kind !== 'account') throw unknown();
  return row;
}

function listPage<Item>(call: Call, all: readonly Item[], json: (item: Item) => unknown) {
  const page = pageOf(call.query);
  return ok(partOf(all, page).map(json), listHeaders(call, page, all.length));
}

async function listMembers({ organizations, owners }: RestParts, call: Call, row: OwnerRow) {
  const rows = await Promise.all((await organizations.members(row.id)).map((name) => owners.ofAccount(name)));
  return listPage(call, rows, (each) => userOf(each, call.base));
}

/** @throws Problem (404) for who is no member */
async function getMember(parts: RestParts, call: Call, row: OwnerRow): Promise<OwnerRow> {
  const { organizations } = parts;
  const found = await getAccountRow(parts, call);
  if (!(await organizations.members(row.id)).includes(found.name)) throw unknown();
  return found;
}

async function removeMember(parts: RestParts, call: Call, row: OwnerRow) {
  const { access, organizations } = parts;
  const account = await getAccountRow(parts, call);
  const { name } = account;
  if (!(await access.administersOwner(call.visitor, account))) await requireOwner(parts, call, row);
  await organizations.removeMember(row.id, name);
  return noContent;
}

/** The owners' team of a repository that an organisation has. */
async function getRepositoryOrganization({ lookup, owners }: RestParts, call: Call): Promise<OwnerRow> {
  const repository = await lookup.need(call.visitor, named(call), 'read');
  if (repository.ownerKind !== 'organization')
    throw new Problem('git.invalid', 405, 'repo is not owned by an organization');
  return owners.byId(repository.ownerId);
}

function teamRoute(
  method: Route['method'],
  path: string,
  handle: Route['handle'],
  scope: Route['scope'] = 'organization',
): Route {
  return { method, path, scope, signedIn: true, handle };
}

async function checkMember(parts: RestParts, call: Call): Promise<Answer> {
  await getMember(parts, call, await getByName(parts, call));
  return noContent;
}

async function checkPublicMember(parts: RestParts, call: Call): Promise<Answer> {
  await getMember(parts, call, await getByName(parts, call));
  return noContent;
}

async function searchTeams(parts: RestParts, call: Call): Promise<Answer> {
  const row = await getByName(parts, call);
  const isMeant = 'owners'.includes((call.query.get('q') ?? '').toLowerCase());
  return ok({ ok: true, data: isMeant ? [teamJson(row, call.base)] : [] });
}

async function readPermissions(parts: RestParts, call: Call): Promise<Answer> {
  const { organizations } = parts;
  const [row, { name }] = [await getByName(parts, call), await getAccountRow(parts, call)];
  const isOwner = (await organizations.members(row.id)).includes(name);
  const rights = { is_owner: isOwner, is_admin: isOwner, can_write: isOwner, can_read: true };
  return ok({ ...rights, can_create_repository: isOwner });
}

async function listTeamRepositories(parts: RestParts, call: Call): Promise<Answer> {
  const { access, repositories } = parts;
  const { id } = await getById(parts, call);
  const page = pageOf(call.query);
  const sight = await access.sight(call.visitor);
  const found = await repositories.list({ sight, ownerId: id, sort: 'id', ...page });
  const levels = await Promise.all(found.repositories.map((each) => access.level(call.visitor, each)));
  const some = await Promise.all(found.repositories.map((each, at) => shown(parts, call, each, levels[at] ?? 'none')));
  return ok(some, listHeaders(call, page, found.total));
}

async function readTeamRepository(parts: RestParts, call: Call): Promise<Answer> {
  const { access, lookup } = parts;
  const { id } = await getById(parts, call);
  const repository = await lookup.need(call.visitor, named(call), 'read');
  if (repository.ownerId !== id) throw unknown();
  return ok(await shown(parts, call, repository, await access.level(call.visitor, repository)));
}

async function addTeamMember(parts: RestParts, call: Call): Promise<Answer> {
  const { organizations } = parts;
  const row = await requireOwner(parts, call, await getById(parts, call));
  await organizations.addMember(row.id, (await getAccountRow(parts, call)).name);
  return noContent;
}

async function readRepositoryTeam(parts: RestParts, call: Call): Promise<Answer> {
  const row = await getRepositoryOrganization(parts, call);
  if ((call.params['team'] ?? '').toLowerCase() !== 'owners') throw unknown();
  return ok(teamJson(row, call.base));
}
