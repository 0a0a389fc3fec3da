import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { unknown } from '../repositories/lookup.ts';
import { isScope } from '../sign-in/visitor.ts';
import type { PublicKeyRow, TokenRow } from '../store/tables.ts';
import { never, timeOf } from '../wire/time.ts';
import { userOf } from '../wire/users.ts';
import {
  accountOf,
  bodyOf,
  created,
  needIdentity,
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
import { listHeaders, numberOf, pageOf, partOf } from './paging.ts';
import { named, type RestParts } from './api-dependencies.ts';

const tokenBody = z.object({ name: required, scopes: optional(z.array(z.string())) });
const keyBody = z.object({ title: required, key: required, read_only: optional(z.boolean()) });

/** Accounts, their tokens and their keys. */
export function userRoutes(parts: RestParts): readonly Route[] {
  return [
    route('GET', '/users/search', 'user', (call) => searchUsers(parts, call)),
    route('GET', '/users/:user/tokens', 'user', (call) => listTokens(parts, call)),
    route('POST', '/users/:user/tokens', 'user', (call) => createToken(parts, call)),
    route('DELETE', '/users/:user/tokens/:token', 'user', (call) => deleteToken(parts, call)),
    signedInRoute('GET', '/user/keys', 'user', (call) => listKeys(parts, call)),
    signedInRoute('POST', '/user/keys', 'user', (call) => addKey(parts, call)),
    signedInRoute('GET', '/user/keys/:id', 'user', (call) => readKey(parts, call)),
    signedInRoute('DELETE', '/user/keys/:id', 'user', (call) => deleteKey(parts, call)),
    signedInRoute('GET', '/repos/:owner/:repo/keys', 'repository', (call) => listDeployKeys(parts, call)),
    signedInRoute('POST', '/repos/:owner/:repo/keys', 'repository', (call) => addDeployKey(parts, call)),
    signedInRoute('GET', '/repos/:owner/:repo/keys/:id', 'repository', (call) => readDeployKey(parts, call)),
    signedInRoute('DELETE', '/repos/:owner/:repo/keys/:id', 'repository', (call) => deleteDeployKey(parts, call)),
  ];
}

/** Tokens are made and listed with the password alone, by oneself or an administrator. */
async function requireTokenOwner({ context }: RestParts, call: Call): Promise<string> {
  const { identity, scopes } = call.visitor;
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

function ownKeyJson(parts: RestParts, call: Call, row: PublicKeyRow, account: string) {
  return accountKeyJson(parts, call, row, account);
}

function deployKeyJson(call: Call, row: PublicKeyRow) {
  return {
    id: row.id,
    key_id: row.id,
    key: row.text,
    url: `${call.base}/api/v1/repos/${named(call).join('/')}/keys/${row.id}`,
    title: row.title,
    fingerprint: row.fingerprint,
    created_at: timeOf(row.created_at),
    read_only: row.read_only === 1,
  };
}

function getAdministered({ lookup }: RestParts, call: Call) {
  return lookup.need(call.visitor, named(call), 'admin');
}

async function searchUsers({ context, owners }: RestParts, call: Call): Promise<Answer> {
  // Who is here is nobody's business who is not.
  needIdentity(call.visitor);
  const words = (call.query.get('q') ?? '').toLowerCase();
  const found = (await context.accounts.list())
    .filter(({ name }) => name !== '*' && name.toLowerCase().includes(words))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const page = pageOf(call.query);
  const rows = await Promise.all(partOf(found, page).map(({ name }) => owners.ofAccount(name)));
  return ok({ ok: true, data: rows.map((row) => userOf(row, call.base)) }, listHeaders(call, page, found.length));
}

async function listTokens(parts: RestParts, call: Call): Promise<Answer> {
  const { tokens } = parts;
  const all = await tokens.list(await requireTokenOwner(parts, call));
  const page = pageOf(call.query);
  return ok(
    partOf(all, page).map((row) => tokenJson(row)),
    listHeaders(call, page, all.length),
  );
}

async function createToken(parts: RestParts, call: Call): Promise<Answer> {
  const { tokens } = parts;
  const account = await requireTokenOwner(parts, call);
  const { name, scopes: asked = [] } = await bodyOf(call, tokenBody);
  // Scripts that are older than scopes name none.
  const scopes = asked.length === 0 ? ['all'] : asked;
  const odd = scopes.find((scope) => !isScope(scope));
  if (odd !== undefined)
    throw new Problem('git.invalid', 400, `invalid access token scope provided: invalid access token scope: ${odd}`);
  const { row, text } = await tokens.create(account, name, scopes);
  return created({ ...tokenJson(row, text), created_at: never, last_used_at: never });
}

async function deleteToken(parts: RestParts, call: Call): Promise<Answer> {
  const { tokens } = parts;
  const account = await requireTokenOwner(parts, call);
  if (!(await tokens.remove(account, call.params['token'] ?? ''))) throw unknown();
  return noContent;
}

async function listKeys(parts: RestParts, call: Call): Promise<Answer> {
  const { keys } = parts;
  const account = accountOf(call);
  const all = await keys.ofAccount(account);
  const page = pageOf(call.query);
  const some = await Promise.all(partOf(all, page).map((row) => ownKeyJson(parts, call, row, account)));
  return ok(some, listHeaders(call, page, all.length));
}

async function addKey(parts: RestParts, call: Call): Promise<Answer> {
  const { keys } = parts;
  const account = accountOf(call);
  const { title, key } = await bodyOf(call, keyBody);
  return created(await ownKeyJson(parts, call, await keys.add({ account }, title, key), account));
}

async function readKey(parts: RestParts, call: Call): Promise<Answer> {
  const { keys } = parts;
  const account = accountOf(call);
  const id = numberOf(call.params['id']);
  const row = (await keys.ofAccount(account)).find((each) => each.id === id);
  if (row === undefined) throw unknown();
  return ok(await ownKeyJson(parts, call, row, account));
}

async function deleteKey({ keys }: RestParts, call: Call): Promise<Answer> {
  if (!(await keys.remove({ account: accountOf(call) }, numberOf(call.params['id'])))) throw unknown();
  return noContent;
}

async function listDeployKeys(parts: RestParts, call: Call): Promise<Answer> {
  const { keys } = parts;
  const all = await keys.ofRepository((await getAdministered(parts, call)).id);
  const page = pageOf(call.query);
  return ok(
    partOf(all, page).map((row) => deployKeyJson(call, row)),
    listHeaders(call, page, all.length),
  );
}

async function addDeployKey(parts: RestParts, call: Call): Promise<Answer> {
  const { keys } = parts;
  const repository = await getAdministered(parts, call);
  const { title, key, read_only = false } = await bodyOf(call, keyBody);
  const row = await keys.add({ repository: repository.id, readOnly: read_only }, title, key);
  return created(deployKeyJson(call, row));
}

async function readDeployKey(parts: RestParts, call: Call): Promise<Answer> {
  const { keys } = parts;
  const id = numberOf(call.params['id']);
  const row = (await keys.ofRepository((await getAdministered(parts, call)).id)).find((each) => each.id === id);
  if (row === undefined) throw unknown();
  return ok(deployKeyJson(call, row));
}

async function deleteDeployKey(parts: RestParts, call: Call): Promise<Answer> {
  const { keys } = parts;
  const { id: repository } = await getAdministered(parts, call);
  if (!(await keys.remove({ repository }, numberOf(call.params['id'])))) throw unknown();
  return noContent;
}

/** A key of an account, to itself or an administrator. */
export async function accountKeyJson(
  { context, owners }: Pick<RestParts, 'context' | 'owners'>,
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
    created_at: timeOf(row.created_at),
    last_used_at: timeOf(row.last_used_at ?? row.created_at),
    user: userOf(await owners.ofAccount(account), base, { self: true, admin }),
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
    created_at: timeOf(created_at),
    last_used_at: last_used_at === null ? timeOf(created_at) : timeOf(last_used_at),
  };
}
