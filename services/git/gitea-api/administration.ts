import { z } from 'zod';
import { AccountName, type Account, type Accounts } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { unknown } from '../repositories/lookup.ts';
import { userOf } from '../wire/users.ts';
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
import { flag, listHeaders, numberOf, pageOf, partOf } from './paging.ts';
import type { RestParts } from './api-dependencies.ts';
import { accountKeyJson } from './users.ts';

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

type Described = z.infer<z.ZodObject<typeof values>>;

/** Accounts, for administrators. They are those of all services. */
export function administrationRoutes(parts: RestParts): readonly Route[] {
  return [
    adminRoute('GET', '/admin/users', (call) => listAccounts(parts, call)),
    adminRoute('POST', '/admin/users', (call) => createAccount(parts, call)),
    adminRoute('PATCH', '/admin/users/:user', (call) => changeAccount(parts, call)),
    adminRoute('DELETE', '/admin/users/:user', (call) => deleteAccount(parts, call)),
    adminRoute('POST', '/admin/users/:user/keys', (call) => addAccountKey(parts, call)),
    adminRoute('DELETE', '/admin/users/:user/keys/:id', (call) => deleteAccountKey(parts, call)),
  ];
}

async function accountJson({ owners }: RestParts, call: Pick<Call, 'base'>, { name, enabled, role }: Account) {
  return userOf(await owners.ofAccount(name), call.base, { self: enabled, admin: role === 'admin' });
}

async function getTargetAccount({ context, owners }: RestParts, call: Call): Promise<Account> {
  const { accounts } = context;

  needAdmin(call);
  const row = await owners.find(call.params['user'] ?? '');
  const found = row?.kind === 'account' ? await accounts.find(row.name) : undefined;
  if (found === undefined) throw unknown();
  return found;
}

async function updateProfile(
  { owners }: RestParts,
  name: string,
  { email: address, full_name, description, website, location }: Described,
) {
  return owners.change(await owners.ofAccount(name), {
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

async function listAccounts(parts: RestParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const { accounts } = context;

  needAdmin(call);
  const all = (await accounts.list()).filter(({ name }) => name !== '*');
  const page = pageOf(call.query);
  return ok(
    await Promise.all(partOf(all, page).map((each) => accountJson(parts, call, each))),
    listHeaders(call, page, all.length),
  );
}

async function createAccount(parts: RestParts, call: Call): Promise<Answer> {
  const { context, owners } = parts;
  const { accounts } = context;

  needAdmin(call);
  const { username, password = '', ...more } = await bodyOf(call, createBody);
  const taken = new Problem('git.name_taken', 422, `user already exists [name: ${username}]`);
  // An organisation may have the name.
  if (!AccountName.safeParse(username).success) throw new Problem('git.invalid', 422, '[Username]: Username');
  if ((await owners.find(username)) !== undefined) throw taken;
  if (password !== '') checkPassword(accounts, username, password);
  await explained(taken, () => accounts.create({ name: username, ...(password === '' ? {} : { password }) }));
  await updateProfile(parts, username, more);
  const made = await accounts.find(username);
  if (made === undefined) throw unknown();
  return created(await accountJson(parts, call, made));
}

async function changeAccount(parts: RestParts, call: Call): Promise<Answer> {
  const { context } = parts;
  const { accounts } = context;

  const { name } = await getTargetAccount(parts, call);
  const { password = '', admin, active, prohibit_login: prohibited, ...more } = await bodyOf(call, changeBody);
  if (password !== '') checkPassword(accounts, name, password);
  const enabled = prohibited === undefined ? active : !prohibited && active !== false;
  const changed = await accounts.change(name, {
    ...(password === '' ? {} : { password }),
    ...(admin === undefined ? {} : { role: admin ? 'admin' : 'user' }),
    ...(enabled === undefined ? {} : { enabled }),
  });
  await updateProfile(parts, name, more);
  return ok(await accountJson(parts, call, changed));
}

async function deleteAccount(parts: RestParts, call: Call): Promise<Answer> {
  const { context, repositories } = parts;
  const { accounts } = context;

  const { name, provisioned } = await getTargetAccount(parts, call);
  if (name === accountOf(call)) throw new Problem('git.invalid', 422, 'you cannot delete yourself');
  // Before anything of it is removed: the account would stay.
  if (provisioned === true)
    throw new Problem('accounts.provisioned', 409, `user is declared in homeport.yaml [name: ${name}]`);
  const owned = async () => repositories.list({ sight: 'all', owner: name, limit: 1, offset: 0 });
  const purge = flag(call.query, 'purge') === true;
  if (!purge && (await owned()).total > 0) {
    throw new Problem('git.invalid', 422, `user still has ownership of repositories [name: ${name}]`);
  }
  await accounts.remove(name, { action: 'delete' });
  return noContent;
}

async function addAccountKey(parts: RestParts, call: Call): Promise<Answer> {
  const { keys } = parts;
  const { name } = await getTargetAccount(parts, call);
  const { title, key } = await bodyOf(call, keyBody);
  return created(await accountKeyJson(parts, call, await keys.add({ account: name }, title, key), name));
}

async function deleteAccountKey(parts: RestParts, call: Call): Promise<Answer> {
  const { keys } = parts;
  const { name } = await getTargetAccount(parts, call);
  if (!(await keys.remove({ account: name }, numberOf(call.params['id'])))) throw unknown();
  return noContent;
}

function checkPassword(accounts: Accounts, name: string, password: string): void {
  try {
    accounts.refuseWeakPassword(name, password);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem('git.invalid', 400, `PasswordComplexity: ${error.detail}`);
  }
}

const takenCodes: ReadonlySet<string> = new Set(['accounts.exists', 'accounts.name_reserved']);

/** A name that is taken meanwhile is refused in the peer's words, too. */
async function explained<T>(taken: Problem, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Problem && takenCodes.has(error.code) ? taken : error;
  }
}
