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
  type Answer,
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
  const { organizations } = parts;
  return [
    organizationRoute('GET', '/orgs', async (call) =>
      listPage(call, await filterVisible(parts, call, await organizations.list()), (row) =>
        organizationJson(row, call.base),
      ),
    ),
    organizationRoute('GET', '/admin/orgs', (call) => listAllOrganizations(parts, call)),
    organizationRoute('POST', '/admin/users/:user/orgs', (call) => createUserOrganization(parts, call)),
    organizationRoute('POST', '/orgs', async (call) => createOrganization(parts, call, accountOf(call))),
    organizationRoute('GET', '/user/orgs', async (call) =>
      listPage(call, await organizations.ofAccount(accountOf(call)), (row) => organizationJson(row, call.base)),
    ),
    organizationRoute('GET', '/users/:user/orgs', async (call) =>
      listPage(
        call,
        await filterVisible(parts, call, await organizations.ofAccount(await getAccountName(parts, call))),
        (row) => organizationJson(row, call.base),
      ),
    ),
    organizationRoute(
      'GET',
      '/orgs/:org',
      async (call) => ok(organizationJson(await getVisibleOrganization(parts, call), call.base)),
      false,
    ),
    organizationRoute('PATCH', '/orgs/:org', (call) => changeOrganization(parts, call)),
    organizationRoute('POST', '/orgs/:org/rename', (call) => renameOrganization(parts, call)),
    organizationRoute('DELETE', '/orgs/:org', (call) => deleteOrganization(parts, call)),
  ];
}

/** An organization that the caller may know of. @throws Problem (404) */
async function getVisibleOrganization(parts: RestParts, call: Call): Promise<OwnerRow> {
  const row = await visibleOwner(parts, call.visitor, call.params['org'] ?? '');
  if (row?.kind !== 'organization') throw unknown();
  return row;
}

/** Returns the organizations that the caller may know of. */
async function filterVisible(
  { access }: RestParts,
  call: Call,
  rows: readonly OwnerRow[],
): Promise<readonly OwnerRow[]> {
  const seen = await Promise.all(rows.map((row) => access.seesOrganization(call.visitor, row)));
  return rows.filter((_row, index) => seen[index]);
}

/** @throws Problem (403) for callers who are neither a member nor an administrator */
async function requireOwner({ access }: RestParts, call: Call, row: OwnerRow): Promise<OwnerRow> {
  if (await access.administersOwner(call.visitor, row)) return row;
  throw new Problem('git.forbidden', 403, 'Must be an organization owner');
}

function listPage<Item>(call: Call, all: readonly Item[], shown: (item: Item) => unknown) {
  const page = pageOf(call.query);
  return ok(partOf(all, page).map(shown), listHeaders(call, page, all.length));
}

async function getAccountName({ owners }: RestParts, call: Call): Promise<string> {
  const row = await owners.find(call.params['user'] ?? '');
  if (row?.kind !== 'account') throw unknown();
  return row.name;
}

async function createOrganization(parts: RestParts, call: Call, owner: string) {
  const { organizations, owners } = parts;
  const {
    username,
    full_name = '',
    description = '',
    visibility: asked = '',
    ...profile
  } = await bodyOf(call, createBody);
  await checkNameAvailable(parts, username);
  const row = { full_name, description, visibility: asked === '' ? ('public' as const) : asked };
  const made = await organizations.create(username, row, owner);
  return created(organizationJson(await owners.change(made, { profile }), call.base));
}

/** @throws Problem (422) where the name is reserved, or an account has it in any case */
async function checkNameAvailable({ context }: RestParts, name: string): Promise<void> {
  const wrong = ownerNameProblem(name);
  if (wrong !== undefined) throw new Problem('git.invalid', 422, wrong);
  // The row of an account may not exist yet.
  const account = (await context.accounts.list()).some((each) => each.name.toLowerCase() === name.toLowerCase());
  if (account) throw new Problem('git.name_taken', 422, `user already exists [name: ${name}]`);
}

function organizationRoute(method: Route['method'], path: string, handle: Route['handle'], signedIn = true): Route {
  return {
    method,
    path,
    scope: 'organization',
    signedIn,
    handle,
  };
}

async function listAllOrganizations({ organizations }: RestParts, call: Call): Promise<Answer> {
  needAdmin(call);
  return listPage(call, await organizations.list(), (row) => organizationJson(row, call.base));
}

async function createUserOrganization(parts: RestParts, call: Call): Promise<Answer> {
  needAdmin(call);
  return createOrganization(parts, call, await getAccountName(parts, call));
}

async function changeOrganization(parts: RestParts, call: Call): Promise<Answer> {
  const { owners } = parts;
  const row = await requireOwner(parts, call, await getVisibleOrganization(parts, call));
  const { full_name, description, visibility: asked = '', ...profile } = await bodyOf(call, changeBody);
  const change = { full_name, description, profile, visibility: asked === '' ? undefined : asked };
  return ok(organizationJson(await owners.change(row, change), call.base));
}

async function renameOrganization(parts: RestParts, call: Call): Promise<Answer> {
  const { organizations, owners } = parts;
  const row = await requireOwner(parts, call, await getVisibleOrganization(parts, call));
  const { new_name: name } = await bodyOf(call, renameBody);
  await checkNameAvailable(parts, name);
  await organizations.rename(row, name);
  owners.forget(row.id);
  return noContent;
}

async function deleteOrganization(parts: RestParts, call: Call): Promise<Answer> {
  const { organizations, owners } = parts;
  const row = await requireOwner(parts, call, await getVisibleOrganization(parts, call));
  await organizations.remove(row);
  owners.forget(row.id);
  return noContent;
}
