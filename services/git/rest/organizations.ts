import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { ownerNameProblem } from '../domain/names.ts';
import { unknown } from '../repositories/lookup.ts';
import type { OwnerRow } from '../store/tables.ts';
import { organizationJson } from '../wire/organizations.ts';
import { accountOf, bodyOf, created, needAdmin, noContent, ok, optional, required, type Call, type Route } from './call.ts'; // prettier-ignore
import { listHeaders, pageOf, partOf } from './paging.ts';
import type { RestParts } from './parts.ts';

const text = optional(z.string().max(255));
const values = { full_name: optional(z.string().max(100)), description: text, website: text, location: text };
const createBody = z.object({ username: required, ...values });
const changeBody = z.object(values);

/** Organisations: made, found, changed and removed. */
export function organizationRoutes(parts: RestParts): readonly Route[] {
  const { access, context, organizations, owners } = parts;
  const find = async (name: string | undefined): Promise<OwnerRow> => {
    const row = await owners.find(name ?? '');
    if (row?.kind !== 'organization') throw unknown();
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
  const person = async (call: Call): Promise<string> => {
    const row = await owners.find(call.params['user'] ?? '');
    if (row?.kind !== 'account') throw unknown();
    return row.name;
  };
  const make = async (call: Call, owner: string) => {
    const { username, full_name = '', description = '', ...profile } = await bodyOf(call, createBody);
    const wrong = ownerNameProblem(username);
    if (wrong !== undefined) throw new Problem('git.invalid', 422, wrong);
    // The row of an account may not be there yet, and its name is taken all the same.
    const account = (await context.accounts.list()).some(({ name }) => name.toLowerCase() === username.toLowerCase());
    if (account) throw new Problem('git.name_taken', 422, `user already exists [name: ${username}]`);
    const made = await organizations.create(username, { full_name, description }, owner);
    return created(organizationJson(await owners.change(made, { profile }), call.base));
  };
  const route = (method: Route['method'], path: string, handle: Route['handle'], signedIn = true): Route => ({ method, path, scope: 'organization', signedIn, handle }); // prettier-ignore

  return [
    route('GET', '/orgs', async (call) => listed(call, await organizations.list(), (row) => organizationJson(row, call.base))),
    route('GET', '/admin/orgs', async (call) => {
      needAdmin(call);
      return listed(call, await organizations.list(), (row) => organizationJson(row, call.base));
    }),
    route('POST', '/admin/users/:user/orgs', async (call) => {
      needAdmin(call);
      return make(call, await person(call));
    }),
    route('POST', '/orgs', async (call) => make(call, accountOf(call))),
    route('GET', '/user/orgs', async (call) => listed(call, await organizations.ofAccount(accountOf(call)), (row) => organizationJson(row, call.base))),
    route('GET', '/users/:user/orgs', async (call) => listed(call, await organizations.ofAccount(await person(call)), (row) => organizationJson(row, call.base))),
    route('GET', '/orgs/:org', async (call) => ok(organizationJson(await find(call.params['org']), call.base)), false),
    route('PATCH', '/orgs/:org', async (call) => {
      const row = await owned(call, await find(call.params['org']));
      const { full_name, description, ...profile } = await bodyOf(call, changeBody);
      return ok(organizationJson(await owners.change(row, { full_name, description, profile }), call.base));
    }),
    route('DELETE', '/orgs/:org', async (call) => {
      const row = await owned(call, await find(call.params['org']));
      await organizations.remove(row.id);
      owners.forget(row.id);
      return noContent;
    }),
  ]; // prettier-ignore
}
