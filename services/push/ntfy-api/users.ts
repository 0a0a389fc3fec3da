import { AccountName, everyone, type Account, type Accounts } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { parsePermission, permissionWord } from '../domain/permission-words.ts';
import { refuse } from '../domain/refusals.ts';
import { isTopicPattern } from '../domain/topics.ts';
import { Access, User, UserName } from '../wire/account.ts';
import { answerSuccess, requireAdmin, type ApiRoutes } from './api-routes.ts';
import { answerValue, type Exchange } from './exchange.ts';
import { readJson } from './json-body.ts';

/** What proves an account: its password, or the bcrypt hash of it. */
type Secret = { readonly password: string } | { readonly passwordHash: string };

/** The administration API, on the one list of accounts; only grants on topics are shown and set here. */
export function userRoutes(accounts: Accounts): ApiRoutes {
  const read = async (exchange: Exchange): Promise<{ name: string; secret: Secret }> => {
    requireAdmin(exchange);
    const { username: name, password, hash } = await readJson(exchange, User);
    if (!AccountName.safeParse(name).success || (password === '' && hash === '')) {
      throw refuse('invalid', 'username invalid, or password/password_hash missing');
    }
    // As at the peer, the hash counts where both are given.
    return { name, secret: hash === '' ? { password } : { passwordHash: hash } };
  };
  const create = (name: string, secret: Secret) => explained(() => accounts.create({ name, ...secret }));

  const setAccess = async (exchange: Exchange): Promise<void> => {
    requireAdmin(exchange);
    const { username, topic, permission: word } = await readJson(exchange, Access);
    const permission = parsePermission(word);
    if (permission === undefined) throw refuse('permission_invalid');
    if (!isTopicPattern(topic)) throw refuse('topic_invalid');
    await requireAccount(accounts, username);
    await accounts.setGrant(username, 'push', topic, permission);
    answerSuccess(exchange);
  };

  return {
    async 'GET /v1/users'(exchange) {
      requireAdmin(exchange);
      const all = [...(await accounts.list())].sort(inOrder);
      const anyone = await accounts.find(everyone);
      answerValue(exchange.response, [
        ...all.map((account) => shown(account, account.role)),
        ...(anyone === undefined ? [] : [shown(anyone, 'anonymous')]),
      ]);
    },

    async 'POST /v1/users'(exchange) {
      const { name, secret } = await read(exchange);
      await create(name, secret);
      answerSuccess(exchange);
    },

    async 'PUT /v1/users'(exchange) {
      const { name, secret } = await read(exchange);
      const known = await accounts.find(name);
      if (known?.role === 'admin') throw refuse('forbidden');
      if (known === undefined) await create(name, secret);
      // Who gives a ready-made service account a password means to use it.
      else await explained(() => accounts.change(name, { ...secret, enabled: true }));
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

/** Puts what an account's own rules say about a name or password into the peer's general refusal. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem && error.code === 'accounts.invalid') {
      throw refuse('invalid', error.detail, { cause: error });
    }
    throw error;
  }
}

async function requireAccount(accounts: Accounts, name: string): Promise<void> {
  if ((await accounts.find(name)) === undefined) throw refuse('no_user');
}

/** Administrators first, then by name. */
function inOrder(a: Account, b: Account): number {
  if (a.role !== b.role) return a.role === 'admin' ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

function shown({ name, grants }: Account, role: string): unknown {
  const topics = grants
    .filter(({ service }) => service === 'push')
    .map(({ resource, permission }) => ({ topic: resource, permission: permissionWord(permission) }));
  return { username: name, role, ...(topics.length === 0 ? {} : { grants: topics }) };
}
