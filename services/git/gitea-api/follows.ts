import { Problem } from '../../contracts/problem.ts';
import { Follows } from '../repositories/follows.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { toUserJson } from '../wire/users.ts';
import { getAccount, noContent, ok, type Call, type Route } from './call.ts';
import { listHeaders, parsePage, getPageItems } from './paging.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage'>;

/** Builds the routes of followers and followed accounts. */
export function followRoutes({ context, storage: { owners } }: Dependencies): readonly Route[] {
  const follows = new Follows(context);

  const findAccountName = async (name: string | undefined): Promise<string> => {
    const row = await owners.find(name ?? '');
    if (row?.kind !== 'account') throw buildNotFoundProblem();
    return row.name;
  };
  const toListResponse = async (call: Call, names: readonly string[]) => {
    const page = parsePage(call.query);
    const rows = await Promise.all(getPageItems(names, page).map((name) => owners.getForAccount(name)));
    return ok(
      rows.map((row) => toUserJson(row, call.base)),
      listHeaders(call, page, names.length),
    );
  };
  const check = async (account: string, followed: string) => {
    if (!(await follows.following(account)).includes(followed)) throw buildNotFoundProblem();
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
    route('GET', '/user/followers', async (call) => toListResponse(call, await follows.followers(getAccount(call)))),
    route('GET', '/user/following', async (call) => toListResponse(call, await follows.following(getAccount(call)))),
    route('GET', '/user/following/:user', async (call) =>
      check(getAccount(call), await findAccountName(call.params['user'])),
    ),
    route('PUT', '/user/following/:user', async (call) => {
      const [account, followed] = [getAccount(call), await findAccountName(call.params['user'])];
      if (account === followed) throw new Problem('git.forbidden', 403, 'You cannot follow yourself.');
      await follows.follow(account, followed);
      return noContent;
    }),
    route('DELETE', '/user/following/:user', async (call) => {
      await follows.unfollow(getAccount(call), await findAccountName(call.params['user']));
      return noContent;
    }),
    route('GET', '/users/:user/followers', async (call) =>
      toListResponse(call, await follows.followers(await findAccountName(call.params['user']))),
    ),
    route('GET', '/users/:user/following', async (call) =>
      toListResponse(call, await follows.following(await findAccountName(call.params['user']))),
    ),
    route('GET', '/users/:user/following/:target', async (call) =>
      check(await findAccountName(call.params['user']), await findAccountName(call.params['target'])),
    ),
  ];
}
