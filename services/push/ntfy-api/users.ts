import { AccountName, everyone, type Account, type Accounts } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { parsePermission, formatPermission } from '../domain/permission-names.ts';
import { refuse } from '../domain/refusals.ts';
import { isTopicPattern } from '../domain/topics.ts';
import { Access, User, UserName } from '../wire/account.ts';
import { answerSuccess, requireAdmin, type ApiRoutes } from './api-routes.ts';
import { answerValue, type Exchange } from './exchange.ts';
import { readJson } from './json-body.ts';

/** Credential of an account: its password or a bcrypt hash of it. */
type Secret = { readonly password: string } | { readonly passwordHash: string };

/** Routes of the administration API on Homeport's accounts; only grants on topics are listed and changed. */
export function userRoutes(accounts: Accounts): ApiRoutes {
  // Administrators may set any password, as in ntfy: scripts create the accounts of devices in this way.
  const create = (name: string, secret: Secret) => withNtfyRefusal(() => accounts.create({ name, ...secret }));

  return {
    async 'GET /v1/users'(exchange) {
      requireAdmin(exchange);
      const sorted = [...(await accounts.list())].sort(compareAccounts);
      const everyoneAccount = await accounts.find(everyone);
      answerValue(exchange.response, [
        ...sorted.map((account) => toUserJson(account, account.role)),
        ...(everyoneAccount === undefined ? [] : [toUserJson(everyoneAccount, 'anonymous')]),
      ]);
    },

    async 'POST /v1/users'(exchange) {
      const { name, secret } = await readAccount(exchange);
      await create(name, secret);
      answerSuccess(exchange);
    },

    async 'PUT /v1/users'(exchange) {
      const { name, secret } = await readAccount(exchange);
      const existing = await accounts.find(name);
      if (existing?.role === 'admin') throw refuse('forbidden');
      if (existing === undefined) await create(name, secret);
      // Setting a password enables a predefined service account.
      else await withNtfyRefusal(() => accounts.change(name, { ...secret, enabled: true }));
      answerSuccess(exchange);
    },

    async 'DELETE /v1/users'(exchange) {
      requireAdmin(exchange);
      const { username } = await readJson(exchange, UserName);
      const account = username === everyone ? undefined : await accounts.find(username);
      if (account === undefined) throw refuse('no_user');
      if (account.role === 'admin') throw refuse('unauthorized');
      await accounts.remove(username);
      answerSuccess(exchange);
    },

    ...grantRoutes(accounts),
  };
}

/** Routes that change the grants of accounts. */
function grantRoutes(accounts: Accounts): ApiRoutes {
  const setAccess = async (exchange: Exchange): Promise<void> => {
    requireAdmin(exchange);
    const { username, topic, permission: permissionName } = await readJson(exchange, Access);
    const permission = parsePermission(permissionName);
    if (permission === undefined) throw refuse('permission_invalid');
    if (!isTopicPattern(topic)) throw refuse('topic_invalid');
    await requireAccount(accounts, username);
    await accounts.setGrant(username, 'push', topic, permission);
    answerSuccess(exchange);
  };

  return {
    'POST /v1/users/access': setAccess,
    'PUT /v1/users/access': setAccess,

    async 'DELETE /v1/users/access'(exchange) {
      requireAdmin(exchange);
      const { username, topic } = await readJson(exchange, Access);
      await requireAccount(accounts, username);
      await accounts.setGrant(username, 'push', topic, undefined);
      answerSuccess(exchange);
    },
  };
}

/** Reads an account of an administrator's request. */
async function readAccount(exchange: Exchange): Promise<{ name: string; secret: Secret }> {
  requireAdmin(exchange);
  const { username: name, password, hash } = await readJson(exchange, User);
  if (!AccountName.safeParse(name).success || (password === '' && hash === '')) {
    throw refuse('invalid', 'username invalid, or password/password_hash missing');
  }
  // The hash takes precedence when both are set, as in ntfy.
  return { name, secret: hash === '' ? { password } : { passwordHash: hash } };
}

const accountErrors: ReadonlySet<string> = new Set(['accounts.invalid', 'accounts.weak_password']);

/** Converts a validation error of an account, or a password that is too weak, into ntfy's general refusal. */
export async function withNtfyRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem && accountErrors.has(error.code)) {
      throw refuse('invalid', error.detail, { cause: error });
    }
    throw error;
  }
}

async function requireAccount(accounts: Accounts, name: string): Promise<void> {
  if ((await accounts.find(name)) === undefined) throw refuse('no_user');
}

/** Sorts administrators first, then by name. */
function compareAccounts(a: Account, b: Account): number {
  if (a.role !== b.role) return a.role === 'admin' ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

function toUserJson({ name, grants }: Account, role: string): unknown {
  const topics = grants
    .filter(({ service }) => service === 'push')
    .map(({ resource, permission }) => ({ topic: resource, permission: formatPermission(permission) }));
  return { username: name, role, ...(topics.length === 0 ? {} : { grants: topics }) };
}
