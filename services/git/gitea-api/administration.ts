import { z } from 'zod';
import { AccountName, type Account, type Accounts } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { toUserJson } from '../wire/users.ts';
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
import { parseFlag, listHeaders, parseId, parsePage, getPageItems } from './paging.ts';
import { accountKeyJson } from './users.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl'>;

const text = optional(z.string().max(255));
const email = optional(z.union([z.literal(''), z.email('Email').max(254)]));
const values = { email, full_name: optional(z.string().max(100)), description: text, website: text, location: text };
const createBody = z.object({ username: required, password: optional(z.string()), ...values });
const changeBody = z.object({
  password: optional(z.string()),
  admin: optional(z.boolean()),
  active: optional(z.boolean()),
  prohibit_login: optional(z.boolean()),
  ...values,
});
const keyBody = z.object({ title: required, key: required });

type ProfileChange = z.infer<z.ZodObject<typeof values>>;

/** Builds the routes by which administrators manage accounts. Accounts are shared by all services. */
export function administrationRoutes(deps: Dependencies): readonly Route[] {
  return [
    adminRoute('GET', '/admin/users', (call) => listAccounts(deps, call)),
    adminRoute('POST', '/admin/users', (call) => createAccount(deps, call)),
    adminRoute('PATCH', '/admin/users/:user', (call) => changeAccount(deps, call)),
    adminRoute('DELETE', '/admin/users/:user', (call) => deleteAccount(deps, call)),
    adminRoute('POST', '/admin/users/:user/keys', (call) => addAccountKey(deps, call)),
    adminRoute('DELETE', '/admin/users/:user/keys/:id', (call) => deleteAccountKey(deps, call)),
  ];
}

async function accountJson(
  { storage: { owners } }: Dependencies,
  call: Pick<Call, 'base'>,
  { name, enabled, role }: Account,
) {
  return toUserJson(await owners.getForAccount(name), call.base, { self: enabled, admin: role === 'admin' });
}

async function getTargetAccount({ context, storage: { owners } }: Dependencies, call: Call): Promise<Account> {
  const { accounts } = context;

  requireAdmin(call);
  const row = await owners.find(call.params['user'] ?? '');
  const account = row?.kind === 'account' ? await accounts.find(row.name) : undefined;
  if (account === undefined) throw buildNotFoundProblem();
  return account;
}

async function updateProfile(
  { storage: { owners } }: Dependencies,
  name: string,
  { email: address, full_name, description, website, location }: ProfileChange,
) {
  return owners.change(await owners.getForAccount(name), {
    email: address,
    full_name,
    description,
    profile: { website, location },
  });
}

function adminRoute(method: Route['method'], path: string, handle: Route['handle']): Route {
  return {
    method,
    path,
    scope: 'admin',
    signedIn: true,
    handle,
  };
}

async function listAccounts(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { accounts } = context;

  requireAdmin(call);
  const all = (await accounts.list()).filter(({ name }) => name !== '*');
  const page = parsePage(call.query);
  return ok(
    await Promise.all(getPageItems(all, page).map((each) => accountJson(deps, call, each))),
    listHeaders(call, page, all.length),
  );
}

async function createAccount(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { owners } = deps.storage;
  const { accounts } = context;

  requireAdmin(call);
  const { username, password = '', ...more } = await readJsonBody(call, createBody);
  const nameTaken = new Problem('git.name_taken', 422, `user already exists [name: ${username}]`);
  // An organization can have the name as well.
  if (!AccountName.safeParse(username).success) throw new Problem('git.invalid', 422, '[Username]: Username');
  if ((await owners.find(username)) !== undefined) throw nameTaken;
  if (password !== '') await checkPassword(accounts, username, password);
  await withNameTaken(nameTaken, () => accounts.create({ name: username, ...(password === '' ? {} : { password }) }));
  await updateProfile(deps, username, more);
  const createdAccount = await accounts.find(username);
  if (createdAccount === undefined) throw buildNotFoundProblem();
  return created(await accountJson(deps, call, createdAccount));
}

async function changeAccount(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { accounts } = context;

  const { name } = await getTargetAccount(deps, call);
  const { password = '', admin, active, prohibit_login: prohibited, ...more } = await readJsonBody(call, changeBody);
  if (password !== '') await checkPassword(accounts, name, password);
  const enabled = prohibited === undefined ? active : !prohibited && active !== false;
  const changed = await accounts.change(name, {
    ...(password === '' ? {} : { password }),
    ...(admin === undefined ? {} : { role: admin ? 'admin' : 'user' }),
    ...(enabled === undefined ? {} : { enabled }),
  });
  await updateProfile(deps, name, more);
  return ok(await accountJson(deps, call, changed));
}

async function deleteAccount(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { repositories } = deps.storage;
  const { accounts } = context;

  const { name, provisioned } = await getTargetAccount(deps, call);
  if (name === getAccount(call)) throw new Problem('git.invalid', 422, 'you cannot delete yourself');
  // Refused before anything is removed, because a declared account is created again at the next start.
  if (provisioned === true)
    throw new Problem('accounts.provisioned', 409, `user is declared in homeport.yaml [name: ${name}]`);
  const listOwned = async () => repositories.list({ visibility: 'all', owner: name, limit: 1, offset: 0 });
  const purge = parseFlag(call.query, 'purge') === true;
  if (!purge && (await listOwned()).total > 0) {
    throw new Problem('git.invalid', 422, `user still has ownership of repositories [name: ${name}]`);
  }
  await accounts.remove(name, { action: 'delete' });
  return noContent;
}

async function addAccountKey(deps: Dependencies, call: Call): Promise<Answer> {
  const { keys } = deps.accessControl;
  const { name } = await getTargetAccount(deps, call);
  const { title, key } = await readJsonBody(call, keyBody);
  return created(await accountKeyJson(deps, call, await keys.add({ account: name }, title, key), name));
}

async function deleteAccountKey(deps: Dependencies, call: Call): Promise<Answer> {
  const { keys } = deps.accessControl;
  const { name } = await getTargetAccount(deps, call);
  if (!(await keys.remove({ account: name }, parseId(call.params['id'])))) throw buildNotFoundProblem();
  return noContent;
}

async function checkPassword(accounts: Accounts, name: string, password: string): Promise<void> {
  try {
    await accounts.refuseWeakPassword(name, password);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem('git.invalid', 400, `PasswordComplexity: ${error.detail}`);
  }
}

const takenCodes: ReadonlySet<string> = new Set(['accounts.exists', 'accounts.name_reserved']);

/** Answers with Gitea's error when another request took the name in the meantime. */
async function withNameTaken<T>(nameTaken: Problem, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Problem && takenCodes.has(error.code) ? nameTaken : error;
  }
}
