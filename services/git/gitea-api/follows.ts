import { Problem } from '../../contracts/problem.ts';
import { Follows } from '../repositories/follows.ts';
import { unknown } from '../repositories/lookup.ts';
import { userOf } from '../wire/users.ts';
import { accountOf, noContent, ok, type Call, type Route } from './call.ts';
import { listHeaders, pageOf, partOf } from './paging.ts';
import type { RestParts } from './api-dependencies.ts';

/** Who follows whom. */
export function followRoutes({ context, owners }: RestParts): readonly Route[] {
  const follows = new Follows(context);

  const person = async (name: string | undefined): Promise<string> => {
    const row = await owners.find(name ?? '');
    if (row?.kind !== 'account') throw unknown();
    return row.name;
  };
  const listed = async (call: Call, names: readonly string[]) => {
    const page = pageOf(call.query);
    const rows = await Promise.all(partOf(names, page).map((name) => owners.ofAccount(name)));
    return ok(
      rows.map((row) => userOf(row, call.base)),
      listHeaders(call, page, names.length),
    );
  };
  const check = async (account: string, followed: string) => {
    if (!(await follows.following(account)).includes(followed)) throw unknown();
    return noContent;
  };
  const route = (method: Route['method'], path: string, handle: Route['handle']): Route => ({
    method,
    path,
    scope: 'user',
    signedIn: true,
    handle,
  });

  return [
    route('GET', '/user/followers', async (call) => listed(call, await follows.followers(accountOf(call)))),
    route('GET', '/user/following', async (call) => listed(call, await follows.following(accountOf(call)))),
    route('GET', '/user/following/:user', async (call) => check(accountOf(call), await person(call.params['user']))),
    route('PUT', '/user/following/:user', async (call) => {
      const [account, followed] = [accountOf(call), await person(call.params['user'])];
      if (account === followed) throw new Problem('git.forbidden', 403, 'Nobody follows himself.');
      await follows.follow(account, followed);
      return noContent;
    }),
    route('DELETE', '/user/following/:user', async (call) => {
      await follows.unfollow(accountOf(call), await person(call.params['user']));
      return noContent;
    }),
    route('GET', '/users/:user/followers', async (call) =>
      listed(call, await follows.followers(await person(call.params['user']))),
    ),
    route('GET', '/users/:user/following', async (call) =>
      listed(call, await follows.following(await person(call.params['user']))),
    ),
    route('GET', '/users/:user/following/:target', async (call) =>
      check(await person(call.params['user']), await person(call.params['target'])),
    ),
  ];
}
