import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { validateOwnerName } from '../domain/names.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { OwnerRow } from '../store/tables.ts';
import { organizationJson } from '../wire/organizations.ts';
import {
  getAccount,
  readJsonBody,
  created,
  requireAdmin,
  noContent,
  ok,
  optional,
  required,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { listHeaders, parsePage, getPageItems } from './paging.ts';
import { visibleOwner } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl'>;

const text = optional(z.string().max(255));
const values = { full_name: optional(z.string().max(100)), description: text, website: text, location: text };
const visibility = optional(z.enum(['', 'public', 'limited', 'private']));
const createBody = z.object({ username: required, visibility, ...values });
const changeBody = z.object({ visibility, ...values });
const renameBody = z.object({ new_name: required });

/** Creates, lists, changes, renames and deletes organizations. */
export function organizationRoutes(deps: Dependencies): readonly Route[] {
  const { organizations } = deps.accessControl;
  return [
    organizationRoute('GET', '/orgs', async (call) =>
      listPage(call, await filterVisible(deps, call, await organizations.list()), (row) =>
        organizationJson(row, call.base),
      ),
    ),
    organizationRoute('GET', '/admin/orgs', (call) => listAllOrganizations(deps, call)),
    organizationRoute('POST', '/admin/users/:user/orgs', (call) => createUserOrganization(deps, call)),
    organizationRoute('POST', '/orgs', async (call) => createOrganization(deps, call, getAccount(call))),
    organizationRoute('GET', '/user/orgs', async (call) =>
      listPage(call, await organizations.listForAccount(getAccount(call)), (row) => organizationJson(row, call.base)),
    ),
    organizationRoute('GET', '/users/:user/orgs', async (call) =>
      listPage(
        call,
        await filterVisible(deps, call, await organizations.listForAccount(await getAccountName(deps, call))),
        (row) => organizationJson(row, call.base),
      ),
    ),
    organizationRoute(
      'GET',
      '/orgs/:org',
      async (call) => ok(organizationJson(await getVisibleOrganization(deps, call), call.base)),
      false,
    ),
    organizationRoute('PATCH', '/orgs/:org', (call) => changeOrganization(deps, call)),
    organizationRoute('POST', '/orgs/:org/rename', (call) => renameOrganization(deps, call)),
    organizationRoute('DELETE', '/orgs/:org', (call) => deleteOrganization(deps, call)),
  ];
}

/** Returns the organization in the path. @throws Problem (404) unless it is visible to the caller */
async function getVisibleOrganization(deps: Dependencies, call: Call): Promise<OwnerRow> {
  const row = await visibleOwner(deps, call.caller, call.params['org'] ?? '');
  if (row?.kind !== 'organization') throw buildNotFoundProblem();
  return row;
}

/** Returns the organizations that are visible to the caller. */
async function filterVisible(
  { accessControl: { access } }: Dependencies,
  call: Call,
  rows: readonly OwnerRow[],
): Promise<readonly OwnerRow[]> {
  const visibilities = await Promise.all(rows.map((row) => access.maySeeOrganization(call.caller, row)));
  return rows.filter((_row, index) => visibilities[index]);
}

/** @throws Problem (403) for callers who are neither a member nor an administrator */
async function requireOwner({ accessControl: { access } }: Dependencies, call: Call, row: OwnerRow): Promise<OwnerRow> {
  if (await access.administersOwner(call.caller, row)) return row;
  throw new Problem('git.forbidden', 403, 'Must be an organization owner');
}

function listPage<Item>(call: Call, all: readonly Item[], toBody: (item: Item) => unknown) {
  const page = parsePage(call.query);
  return ok(getPageItems(all, page).map(toBody), listHeaders(call, page, all.length));
}

async function getAccountName({ storage: { owners } }: Dependencies, call: Call): Promise<string> {
  const row = await owners.find(call.params['user'] ?? '');
  if (row?.kind !== 'account') throw buildNotFoundProblem();
  return row.name;
}

async function createOrganization(deps: Dependencies, call: Call, owner: string) {
  const { organizations } = deps.accessControl;
  const { owners } = deps.storage;
  const {
    username,
    full_name = '',
    description = '',
    visibility: requestedVisibility = '',
    ...profile
  } = await readJsonBody(call, createBody);
  await checkNameAvailable(deps, username);
  const row = {
    full_name,
    description,
    visibility: requestedVisibility === '' ? ('public' as const) : requestedVisibility,
  };
  const organization = await organizations.create(username, row, owner);
  return created(organizationJson(await owners.change(organization, { profile }), call.base));
}

/** @throws Problem (422) when the name is reserved, or belongs to an account in any letter case */
async function checkNameAvailable({ context }: Dependencies, name: string): Promise<void> {
  const nameProblem = validateOwnerName(name);
  if (nameProblem !== undefined) throw new Problem('git.invalid', 422, nameProblem);
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

async function listAllOrganizations({ accessControl: { organizations } }: Dependencies, call: Call): Promise<Answer> {
  requireAdmin(call);
  return listPage(call, await organizations.list(), (row) => organizationJson(row, call.base));
}

async function createUserOrganization(deps: Dependencies, call: Call): Promise<Answer> {
  requireAdmin(call);
  return createOrganization(deps, call, await getAccountName(deps, call));
}

async function changeOrganization(deps: Dependencies, call: Call): Promise<Answer> {
  const { owners } = deps.storage;
  const row = await requireOwner(deps, call, await getVisibleOrganization(deps, call));
  const {
    full_name,
    description,
    visibility: requestedVisibility = '',
    ...profile
  } = await readJsonBody(call, changeBody);
  const change = {
    full_name,
    description,
    profile,
    visibility: requestedVisibility === '' ? undefined : requestedVisibility,
  };
  return ok(organizationJson(await owners.change(row, change), call.base));
}

async function renameOrganization(deps: Dependencies, call: Call): Promise<Answer> {
  const { organizations } = deps.accessControl;
  const { owners } = deps.storage;
  const row = await requireOwner(deps, call, await getVisibleOrganization(deps, call));
  const { new_name: name } = await readJsonBody(call, renameBody);
  await checkNameAvailable(deps, name);
  await organizations.rename(row, name);
  owners.evict(row.id);
  return noContent;
}

async function deleteOrganization(deps: Dependencies, call: Call): Promise<Answer> {
  const { organizations } = deps.accessControl;
  const { owners } = deps.storage;
  const row = await requireOwner(deps, call, await getVisibleOrganization(deps, call));
  await organizations.remove(row);
  owners.evict(row.id);
  return noContent;
}
