import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { ownerNameProblem } from '../domain/names.ts';
import { unknown } from '../repositories/lookup.ts';
import type { OwnerRow } from '../store/tables.ts';
import { organizationJson } from '../wire/organizations.ts';
import {
  accountOf,
  bodyOf,
  created,
  needAdmin,
  noContent,
  ok,
  optional,
  required,
  type Call,
  type Route,
} from './call.ts';
import { listHeaders, pageOf, partOf } from './paging.ts';
import { visibleOwner, type RestParts } from './api-dependencies.ts';

const text = optional(z.string().max(255));
const values = { full_name: optional(z.string().max(100)), description: text, website: text, location: text };
const visibility = optional(z.enum(['', 'public', 'limited', 'private']));
const createBody = z.object({ username: required, visibility, ...values });
const changeBody = z.object({ visibility, ...values });
const renameBody = z.object({ new_name: required });

/** Creates, lists, changes, renames and deletes organizations. */
export function organizationRoutes(parts: RestParts): readonly Route[] {
  const { access, context, organizations, owners } = parts;
  /** An organization that the caller may know of. @throws Problem (404) */
  const find = async (call: Call): Promise<OwnerRow> => {
    const row = await visibleOwner(parts, call.visitor, call.params['org'] ?? '');
    if (row?.kind !== 'organization') throw unknown();
    return row;
  };
  /** Returns the organizations that the caller may know of. */
  const visible = async (call: Call, rows: readonly OwnerRow[]): Promise<readonly OwnerRow[]> => {
    const seen = await Promise.all(rows.map((row) => access.seesOrganization(call.visitor, row)));
    return rows.filter((_row, index) => seen[index]);
  };
  /** @throws Problem (403) for callers who are neither a member nor an administrator */
  const owned = async (call: Call, row: OwnerRow): Promise<OwnerRow> => {
    if (await access.administersOwner(call.visitor, row)) return row;
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
    const {
      username,
      full_name = '',
      description = '',
      visibility: asked = '',
      ...profile
    } = await bodyOf(call, createBody);
    await needFreeName(username);
    const row = { full_name, description, visibility: asked === '' ? ('public' as const) : asked };
    const made = await organizations.create(username, row, owner);
    return created(organizationJson(await owners.change(made, { profile }), call.base));
  };
  /** @throws Problem (422) where the name is reserved, or an account has it in any case */
  const needFreeName = async (name: string): Promise<void> => {
    const wrong = ownerNameProblem(name);
    if (wrong !== undefined) throw new Problem('git.invalid', 422, wrong);
    // The row of an account may not exist yet.
    const account = (await context.accounts.list()).some((each) => each.name.toLowerCase() === name.toLowerCase());
    if (account) throw new Problem('git.name_taken', 422, `user already exists [name: ${name}]`);
  };
  const route = (method: Route['method'], path: string, handle: Route['handle'], signedIn = true): Route => ({
    method,
    path,
    scope: 'organization',
    signedIn,
    handle,
  });

  return [
    route('GET', '/orgs', async (call) =>
      listed(call, await visible(call, await organizations.list()), (row) => organizationJson(row, call.base)),
    ),
    route('GET', '/admin/orgs', async (call) => {
      needAdmin(call);
      return listed(call, await organizations.list(), (row) => organizationJson(row, call.base));
    }),
    route('POST', '/admin/users/:user/orgs', async (call) => {
      needAdmin(call);
      return make(call, await person(call));
    }),
    route('POST', '/orgs', async (call) => make(call, accountOf(call))),
    route('GET', '/user/orgs', async (call) =>
      listed(call, await organizations.ofAccount(accountOf(call)), (row) => organizationJson(row, call.base)),
    ),
    route('GET', '/users/:user/orgs', async (call) =>
      listed(call, await visible(call, await organizations.ofAccount(await person(call))), (row) =>
        organizationJson(row, call.base),
      ),
    ),
    route('GET', '/orgs/:org', async (call) => ok(organizationJson(await find(call), call.base)), false),
    route('PATCH', '/orgs/:org', async (call) => {
      const row = await owned(call, await find(call));
      const { full_name, description, visibility: asked = '', ...profile } = await bodyOf(call, changeBody);
      const change = { full_name, description, profile, visibility: asked === '' ? undefined : asked };
      return ok(organizationJson(await owners.change(row, change), call.base));
    }),
    route('POST', '/orgs/:org/rename', async (call) => {
      const row = await owned(call, await find(call));
      const { new_name: name } = await bodyOf(call, renameBody);
      await needFreeName(name);
      await organizations.rename(row, name);
      owners.forget(row.id);
      return noContent;
    }),
    route('DELETE', '/orgs/:org', async (call) => {
      const row = await owned(call, await find(call));
      await organizations.remove(row);
      owners.forget(row.id);
      return noContent;
    }),
  ];
}
