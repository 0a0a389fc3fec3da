import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { ownerNameProblem } from '../domain/names.ts';
import { unknown } from '../repositories/lookup.ts';
import type { OwnerRow } from '../store/tables.ts';
import { avatarUrl, userOf } from '../wire/users.ts';
import { accountOf, bodyOf, created, needIdentity, noContent, ok, optional, required, type Call, type Route } from './call.ts'; // prettier-ignore
import { listHeaders, numberOf, pageOf, partOf } from './paging.ts';
import { shown, type RestParts } from './parts.ts';

const values = { full_name: optional(z.string().max(100)), description: optional(z.string().max(255)) };
const createBody = z.object({ username: required, ...values });
const changeBody = z.object(values);

/** Organisations. Their one team are their owners, whose number is the organisation's. */
export function organizationRoutes(parts: RestParts): readonly Route[] {
  const { access, context, organizations, owners, repositories } = parts;
  const json = (row: OwnerRow, base: string) => ({
    id: row.id,
    name: row.name,
    full_name: row.full_name,
    email: '',
    avatar_url: avatarUrl(row.name, base),
    description: row.description,
    website: '',
    location: '',
    visibility: 'public',
    repo_admin_change_team_access: false,
    username: row.name,
  });
  const team = (row: OwnerRow, base: string) => ({
    id: row.id,
    name: 'Owners',
    description: '',
    organization: json(row, base),
    includes_all_repositories: true,
    permission: 'owner',
    can_create_org_repo: true,
    units: ['repo.code', 'repo.issues', 'repo.pulls', 'repo.releases'],
    units_map: {
      'repo.code': 'admin',
      'repo.issues': 'admin',
      'repo.pulls': 'admin',
      'repo.releases': 'admin',
    },
  });
  const find = async (name: string | undefined): Promise<OwnerRow> => {
    const row = await owners.find(name ?? '');
    if (row?.kind !== 'organization') throw unknown();
    return row;
  };
  const byId = async (call: Call): Promise<OwnerRow> => {
    const row = await owners.byId(numberOf(call.params['id']));
    if (row.kind !== 'organization') throw unknown();
    return row;
  };
  /** Its members decide for it, and administrators. */
  const owned = async (call: Call, row: OwnerRow): Promise<OwnerRow> => {
    if (await access.ownsName(call.visitor, row.name)) return row;
    throw new Problem('git.forbidden', 403, 'Must be an organization owner');
  };
  const listed = <Item>(call: Call, all: readonly Item[], shown: (item: Item) => unknown) => {
    const page = pageOf(call.query);
    return ok(partOf(all, page).map(shown), listHeaders(call, page, all.length));
  };
  const members = async (call: Call, row: OwnerRow) => {
    const rows = await Promise.all((await organizations.members(row.id)).map((name) => owners.ofAccount(name)));
    return listed(call, rows, (each) => userOf(each, call.base));
  };
  const person = async (call: Call): Promise<string> => {
    const row = await owners.find(call.params['user'] ?? '');
    if (row?.kind !== 'account') throw unknown();
    return row.name;
  };
  const make = async (call: Call, owner: string) => {
    const { username, full_name = '', description = '' } = await bodyOf(call, createBody);
    const wrong = ownerNameProblem(username);
    if (wrong !== undefined) throw new Problem('git.invalid', 422, wrong);
    // The row of an account may not be there yet, and its name is taken all the same.
    const account = (await context.accounts.list()).some(({ name }) => name.toLowerCase() === username.toLowerCase());
    if (account) throw new Problem('git.name_taken', 422, `user already exists [name: ${username}]`);
    return created(json(await organizations.create(username, { full_name, description }, owner), call.base));
  };
  const administered = (call: Call): string => {
    if (needIdentity(call.visitor).role !== 'admin')
      throw new Problem('git.forbidden', 403, 'user should be the site admin');
    return call.base;
  };
  const leave = async (call: Call, row: OwnerRow) => {
    const name = await person(call);
    if (!(await access.ownsName(call.visitor, name))) await owned(call, row);
    await organizations.removeMember(row.id, name);
    return noContent;
  };
  const route = (method: Route['method'], path: string, handle: Route['handle'], signedIn = true): Route => ({ method, path, scope: 'organization', signedIn, handle }); // prettier-ignore

  return [
    route('GET', '/orgs', async (call) => listed(call, await organizations.list(), (row) => json(row, call.base))),
    route('GET', '/admin/orgs', async (call) => listed(call, await organizations.list(), (row) => json(row, administered(call)))),
    route('POST', '/admin/users/:user/orgs', async (call) => {
      administered(call);
      return make(call, await person(call));
    }),
    route('POST', '/orgs', async (call) => make(call, accountOf(call))),
    route('GET', '/user/orgs', async (call) => listed(call, await organizations.ofAccount(accountOf(call)), (row) => json(row, call.base))),
    route('GET', '/users/:user/orgs', async (call) => listed(call, await organizations.ofAccount(await person(call)), (row) => json(row, call.base))),
    route('GET', '/orgs/:org', async (call) => ok(json(await find(call.params['org']), call.base)), false),
    route('PATCH', '/orgs/:org', async (call) => {
      const row = await owned(call, await find(call.params['org']));
      const asked = Object.entries(await bodyOf(call, changeBody)).filter(([, value]) => value !== undefined);
      const changed = asked.length === 0 ? row : await organizations.change(row.id, Object.fromEntries(asked));
      owners.forget(row.id);
      return ok(json(changed, call.base));
    }),
    route('DELETE', '/orgs/:org', async (call) => {
      const row = await owned(call, await find(call.params['org']));
      await organizations.remove(row.id);
      owners.forget(row.id);
      return noContent;
    }),
    route('GET', '/orgs/:org/members', async (call) => members(call, await find(call.params['org']))),
    route('GET', '/orgs/:org/members/:user', async (call) => {
      const row = await find(call.params['org']);
      if (!(await organizations.members(row.id)).includes(await person(call))) throw unknown();
      return noContent;
    }),
    route('DELETE', '/orgs/:org/members/:user', async (call) => leave(call, await find(call.params['org']))),
    route('GET', '/orgs/:org/teams', async (call) => ok([team(await find(call.params['org']), call.base)])),
    route('GET', '/teams/:id', async (call) => ok(team(await byId(call), call.base))),
    route('GET', '/teams/:id/repos', async (call) => {
      const { name } = await byId(call);
      const page = pageOf(call.query);
      const sight = { public: true, owners: await repositories.ownersOf(accountOf(call)), ids: [] };
      const found = await repositories.list({ sight, owner: name, sort: 'id', ...page });
      const some = await Promise.all(found.repositories.map(async (each) => shown(parts, call, each, await access.level(call.visitor, each))));
      return ok(some, listHeaders(call, page, found.total));
    }),
    route('GET', '/teams/:id/members', async (call) => members(call, await byId(call))),
    route('PUT', '/teams/:id/members/:user', async (call) => {
      const row = await owned(call, await byId(call));
      await organizations.addMember(row.id, await person(call));
      return noContent;
    }),
    route('DELETE', '/teams/:id/members/:user', async (call) => leave(call, await byId(call))),
  ]; // prettier-ignore
}
