import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { isScope } from '../sign-in/caller.ts';
import type { PublicKeyRow, TokenRow } from '../store/tables.ts';
import { zeroTime, formatTime } from '../wire/time.ts';
import { toUserJson } from '../wire/users.ts';
import {
  getAccount,
  readJsonBody,
  created,
  requireIdentity,
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
import { listHeaders, parseId, parsePage, getPageItems } from './paging.ts';
import { getRepositoryName } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl'>;

const tokenBody = z.object({ name: required, scopes: optional(z.array(z.string())) });
const keyBody = z.object({ title: required, key: required, read_only: optional(z.boolean()) });

/** Builds the routes of accounts, tokens, SSH keys and deploy keys. */
export function userRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', '/users/search', 'user', (call) => searchUsers(deps, call)),
    route('GET', '/users/:user/tokens', 'user', (call) => listTokens(deps, call)),
    route('POST', '/users/:user/tokens', 'user', (call) => createToken(deps, call)),
    route('DELETE', '/users/:user/tokens/:token', 'user', (call) => deleteToken(deps, call)),
    signedInRoute('GET', '/user/keys', 'user', (call) => listKeys(deps, call)),
    signedInRoute('POST', '/user/keys', 'user', (call) => addKey(deps, call)),
    signedInRoute('GET', '/user/keys/:id', 'user', (call) => readKey(deps, call)),
    signedInRoute('DELETE', '/user/keys/:id', 'user', (call) => deleteKey(deps, call)),
    signedInRoute('GET', '/repos/:owner/:repo/keys', 'repository', (call) => listDeployKeys(deps, call)),
    signedInRoute('POST', '/repos/:owner/:repo/keys', 'repository', (call) => addDeployKey(deps, call)),
    signedInRoute('GET', '/repos/:owner/:repo/keys/:id', 'repository', (call) => readDeployKey(deps, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/keys/:id', 'repository', (call) => deleteDeployKey(deps, call)),
  ];
}

/** Returns the owner of the tokens. Only the owner or an administrator who signs in with a password may manage them. */
async function requireTokenOwner({ context }: Dependencies, call: Call): Promise<string> {
  const { identity, scopes } = call.caller;
  const isPassword = identity !== undefined && identity.via === 'password' && scopes === undefined;
  if (!isPassword || !/^basic /i.test(call.request.headers.authorization ?? '')) {
    throw new Problem('git.sign_in', 401, 'auth required');
  }
  const owner = await context.accounts.find(call.params['user'] ?? '');
  if (owner === undefined || (owner.name !== identity.account && identity.role !== 'admin')) {
    throw new Problem('git.forbidden', 403, 'doer should be the site admin or be same as the contextUser');
  }
  return owner.name;
}

function deployKeyJson(call: Call, row: PublicKeyRow) {
  return {
    id: row.id,
    key_id: row.id,
    key: row.text,
    url: `${call.base}/api/v1/repos/${getRepositoryName(call).join('/')}/keys/${row.id}`,
    title: row.title,
    fingerprint: row.fingerprint,
    created_at: formatTime(row.created_at),
    read_only: row.read_only === 1,
  };
}

function getAdministered({ accessControl: { lookup } }: Dependencies, call: Call) {
  return lookup.require(call.caller, getRepositoryName(call), 'admin');
}

async function searchUsers({ context, storage: { owners } }: Dependencies, call: Call): Promise<Answer> {
  // Accounts are not listed to visitors.
  requireIdentity(call.caller);
  const query = (call.query.get('q') ?? '').toLowerCase();
  const matches = (await context.accounts.list())
    .filter(({ name }) => name !== '*' && name.toLowerCase().includes(query))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const page = parsePage(call.query);
  const rows = await Promise.all(getPageItems(matches, page).map(({ name }) => owners.getForAccount(name)));
  return ok({ ok: true, data: rows.map((row) => toUserJson(row, call.base)) }, listHeaders(call, page, matches.length));
}

async function listTokens(deps: Dependencies, call: Call): Promise<Answer> {
  const { tokens } = deps.accessControl;
  const all = await tokens.list(await requireTokenOwner(deps, call));
  const page = parsePage(call.query);
  return ok(
    getPageItems(all, page).map((row) => tokenJson(row)),
    listHeaders(call, page, all.length),
  );
}

async function createToken(deps: Dependencies, call: Call): Promise<Answer> {
  const { tokens } = deps.accessControl;
  const account = await requireTokenOwner(deps, call);
  const { name, scopes: requestedScopes = [] } = await readJsonBody(call, tokenBody);
  // Older scripts send no scopes.
  const scopes = requestedScopes.length === 0 ? ['all'] : requestedScopes;
  const invalidScope = scopes.find((scope) => !isScope(scope));
  if (invalidScope !== undefined)
    throw new Problem(
      'git.invalid',
      400,
      `invalid access token scope provided: invalid access token scope: ${invalidScope}`,
    );
  const { row, text } = await tokens.create(account, name, scopes);
  return created({ ...tokenJson(row, text), created_at: zeroTime, last_used_at: zeroTime });
}

async function deleteToken(deps: Dependencies, call: Call): Promise<Answer> {
  const { tokens } = deps.accessControl;
  const account = await requireTokenOwner(deps, call);
  if (!(await tokens.remove(account, call.params['token'] ?? ''))) throw buildNotFoundProblem();
  return noContent;
}

async function listKeys(deps: Dependencies, call: Call): Promise<Answer> {
  const { keys } = deps.accessControl;
  const account = getAccount(call);
  const all = await keys.listForAccount(account);
  const page = parsePage(call.query);
  const views = await Promise.all(getPageItems(all, page).map((row) => accountKeyJson(deps, call, row, account)));
  return ok(views, listHeaders(call, page, all.length));
}

async function addKey(deps: Dependencies, call: Call): Promise<Answer> {
  const { keys } = deps.accessControl;
  const account = getAccount(call);
  const { title, key } = await readJsonBody(call, keyBody);
  return created(await accountKeyJson(deps, call, await keys.add({ account }, title, key), account));
}

async function readKey(deps: Dependencies, call: Call): Promise<Answer> {
  const { keys } = deps.accessControl;
  const account = getAccount(call);
  const id = parseId(call.params['id']);
  const row = (await keys.listForAccount(account)).find((each) => each.id === id);
  if (row === undefined) throw buildNotFoundProblem();
  return ok(await accountKeyJson(deps, call, row, account));
}

async function deleteKey({ accessControl: { keys } }: Dependencies, call: Call): Promise<Answer> {
  if (!(await keys.remove({ account: getAccount(call) }, parseId(call.params['id'])))) throw buildNotFoundProblem();
  return noContent;
}

async function listDeployKeys(deps: Dependencies, call: Call): Promise<Answer> {
  const { keys } = deps.accessControl;
  const all = await keys.listForRepository((await getAdministered(deps, call)).id);
  const page = parsePage(call.query);
  return ok(
    getPageItems(all, page).map((row) => deployKeyJson(call, row)),
    listHeaders(call, page, all.length),
  );
}

async function addDeployKey(deps: Dependencies, call: Call): Promise<Answer> {
  const { keys } = deps.accessControl;
  const repository = await getAdministered(deps, call);
  const { title, key, read_only = false } = await readJsonBody(call, keyBody);
  const row = await keys.add({ repository: repository.id, readOnly: read_only }, title, key);
  return created(deployKeyJson(call, row));
}

async function readDeployKey(deps: Dependencies, call: Call): Promise<Answer> {
  const { keys } = deps.accessControl;
  const id = parseId(call.params['id']);
  const row = (await keys.listForRepository((await getAdministered(deps, call)).id)).find((each) => each.id === id);
  if (row === undefined) throw buildNotFoundProblem();
  return ok(deployKeyJson(call, row));
}

async function deleteDeployKey(deps: Dependencies, call: Call): Promise<Answer> {
  const { keys } = deps.accessControl;
  const { id: repository } = await getAdministered(deps, call);
  if (!(await keys.remove({ repository }, parseId(call.params['id'])))) throw buildNotFoundProblem();
  return noContent;
}

/** Converts a key to JSON for its account or an administrator. */
export async function accountKeyJson(
  { context, storage: { owners } }: Pick<RouteDependencies, 'context' | 'storage'>,
  { base }: Pick<Call, 'base'>,
  row: PublicKeyRow,
  account: string,
) {
  const admin = (await context.accounts.find(account))?.role === 'admin';
  return {
    id: row.id,
    key: row.text,
    url: `${base}/api/v1/user/keys/${row.id}`,
    title: row.title,
    fingerprint: row.fingerprint,
    created_at: formatTime(row.created_at),
    last_used_at: formatTime(row.last_used_at ?? row.created_at),
    user: toUserJson(await owners.getForAccount(account), base, { self: true, admin }),
    key_type: 'user',
  };
}

function tokenJson({ id, name, last_eight, scopes, created_at, last_used_at }: TokenRow, sha1 = '') {
  return {
    id,
    name,
    sha1,
    token_last_eight: last_eight,
    scopes: JSON.parse(scopes) as string[],
    created_at: formatTime(created_at),
    last_used_at: last_used_at === null ? formatTime(created_at) : formatTime(last_used_at),
  };
}
