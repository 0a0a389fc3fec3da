import { Problem } from '../../contracts/problem.ts';
import { unknown } from '../repositories/lookup.ts';
import type { OwnerRow } from '../store/tables.ts';
import { organizationJson } from '../wire/organizations.ts';
import { userOf } from '../wire/users.ts';
import { accountOf, noContent, ok, type Call, type Route } from './call.ts';
import { listHeaders, numberOf, pageOf, partOf } from './paging.ts';
import { named, shown, type RestParts } from './api-dependencies.ts';

const units = ['repo.code', 'repo.issues', 'repo.pulls', 'repo.releases'];

/** Members of organisations. Each organisation has one team, its owners, whose number is the organisation's. */
export function teamRoutes(parts: RestParts): readonly Route[] {
  const { access, lookup, organizations, owners, repositories } = parts;

  const team = (row: OwnerRow, base: string) => ({
    id: row.id,
    name: 'Owners',
    description: '',
    organization: organizationJson(row, base),
    includes_all_repositories: true,
    permission: 'owner',
    can_create_org_repo: true,
    units,
    units_map: Object.fromEntries(units.map((unit) => [unit, 'admin'])),
  });
  /** @throws Problem (404) for what is no organization that the caller may know of */
  const organization = async (call: Call, row: OwnerRow | undefined): Promise<OwnerRow> => {
    if (row?.kind !== 'organization' || !(await access.seesOrganization(call.visitor, row))) throw unknown();
    return row;
  };
  const byName = async (call: Call) => organization(call, await owners.find(call.params['org'] ?? ''));
  const byId = async (call: Call) => organization(call, await owners.byId(numberOf(call.params['id'])));
  /** @throws Problem (403) for callers who are neither a member nor an administrator */
  const owned = async (call: Call, row: OwnerRow): Promise<OwnerRow> => {
    if (await access.administersOwner(call.visitor, row)) return row;
    throw new Problem('git.forbidden', 403, 'Must be an organization owner');
  };
  const person = async (call: Call): Promise<OwnerRow> => {
    const row = await owners.find(call.params['user'] ?? '');
    if (row?.kind !== 'account') throw unknown();
    return row;
  };
  const listed = <Item>(call: Call, all: readonly Item[], json: (item: Item) => unknown) => {
    const page = pageOf(call.query);
    return ok(partOf(all, page).map(json), listHeaders(call, page, all.length));
  };
  const members = async (call: Call, row: OwnerRow) => {
    const rows = await Promise.all((await organizations.members(row.id)).map((name) => owners.ofAccount(name)));
    return listed(call, rows, (each) => userOf(each, call.base));
  };
  /** @throws Problem (404) for who is no member */
  const member = async (call: Call, row: OwnerRow): Promise<OwnerRow> => {
    const found = await person(call);
    if (!(await organizations.members(row.id)).includes(found.name)) throw unknown();
    return found;
  };
  const leave = async (call: Call, row: OwnerRow) => {
    const account = await person(call);
    const { name } = account;
    if (!(await access.administersOwner(call.visitor, account))) await owned(call, row);
    await organizations.removeMember(row.id, name);
    return noContent;
  };
  /** The owners' team of a repository that an organisation has. */
  const ofRepository = async (call: Call): Promise<OwnerRow> => {
    const repository = await lookup.need(call.visitor, named(call), 'read');
    if (repository.ownerKind !== 'organization')
      throw new Problem('git.invalid', 405, 'repo is not owned by an organization');
    return owners.byId(repository.ownerId);
  };
  const route = (
    method: Route['method'],
    path: string,
    handle: Route['handle'],
    scope: Route['scope'] = 'organization',
  ): Route => ({ method, path, scope, signedIn: true, handle });

  return [
    route('GET', '/orgs/:org/members', async (call) => members(call, await byName(call))),
    route('GET', '/orgs/:org/members/:user', async (call) => {
      await member(call, await byName(call));
      return noContent;
    }),
    route('DELETE', '/orgs/:org/members/:user', async (call) => leave(call, await byName(call))),
    // Who is a member is no secret among accounts.
    route('GET', '/orgs/:org/public_members', async (call) => members(call, await byName(call))),
    route('GET', '/orgs/:org/public_members/:user', async (call) => {
      await member(call, await byName(call));
      return noContent;
    }),
    route('GET', '/orgs/:org/teams', async (call) => ok([team(await byName(call), call.base)])),
    route('GET', '/orgs/:org/teams/search', async (call) => {
      const row = await byName(call);
      const isMeant = 'owners'.includes((call.query.get('q') ?? '').toLowerCase());
      return ok({ ok: true, data: isMeant ? [team(row, call.base)] : [] });
    }),
    route('GET', '/user/teams', async (call) =>
      listed(call, await organizations.ofAccount(accountOf(call)), (row) => team(row, call.base)),
    ),
    route('GET', '/users/:user/orgs/:org/permissions', async (call) => {
      const [row, { name }] = [await byName(call), await person(call)];
      const isOwner = (await organizations.members(row.id)).includes(name);
      const rights = { is_owner: isOwner, is_admin: isOwner, can_write: isOwner, can_read: true };
      return ok({ ...rights, can_create_repository: isOwner });
    }),
    route('GET', '/teams/:id', async (call) => ok(team(await byId(call), call.base))),
    route('GET', '/teams/:id/repos', async (call) => {
      const { id } = await byId(call);
      const page = pageOf(call.query);
      const sight = await access.sight(call.visitor);
      const found = await repositories.list({ sight, ownerId: id, sort: 'id', ...page });
      const levels = await Promise.all(found.repositories.map((each) => access.level(call.visitor, each)));
      const some = await Promise.all(
        found.repositories.map((each, at) => shown(parts, call, each, levels[at] ?? 'none')),
      );
      return ok(some, listHeaders(call, page, found.total));
    }),
    route('GET', '/teams/:id/repos/:owner/:repo', async (call) => {
      const { id } = await byId(call);
      const repository = await lookup.need(call.visitor, named(call), 'read');
      if (repository.ownerId !== id) throw unknown();
      return ok(await shown(parts, call, repository, await access.level(call.visitor, repository)));
    }),
    route('GET', '/teams/:id/members', async (call) => members(call, await byId(call))),
    route('GET', '/teams/:id/members/:user', async (call) =>
      ok(userOf(await member(call, await byId(call)), call.base)),
    ),
    route('PUT', '/teams/:id/members/:user', async (call) => {
      const row = await owned(call, await byId(call));
      await organizations.addMember(row.id, (await person(call)).name);
      return noContent;
    }),
    route('DELETE', '/teams/:id/members/:user', async (call) => leave(call, await byId(call))),
    route(
      'GET',
      '/repos/:owner/:repo/teams',
      async (call) => ok([team(await ofRepository(call), call.base)]),
      'repository',
    ),
    route(
      'GET',
      '/repos/:owner/:repo/teams/:team',
      async (call) => {
        const row = await ofRepository(call);
        if ((call.params['team'] ?? '').toLowerCase() !== 'owners') throw unknown();
        return ok(team(row, call.base));
      },
      'repository',
    ),
  ];
}
