import type { Kysely } from 'kysely';
import { unknown } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import { timeOf } from '../wire/time.ts';
import { userOf } from '../wire/users.ts';
import { accountOf, noContent, ok, type Call, type Route } from './call.ts';
import { listHeaders, pageOf, partOf } from './paging.ts';
import { named, placeOf, shown, type Db, type RestParts } from './api-dependencies.ts';

const scope = 'repository' as const;

/** Who hears of everything that is said in a repository's issues and pull requests. */
export function watchRoutes(parts: RestParts & { readonly db: Db }): readonly Route[] {
  const { access, context, db, lookup, owners, repositories } = parts;
  const path = '/repos/:owner/:repo/subscription';
  const readable = (call: Call) => lookup.need(call.visitor, named(call), 'read');
  const find = ({ id }: Repository, account: string) =>
    db
      .selectFrom('repository_watches')
      .selectAll()
      .where('repository_id', '=', id)
      .where('account', '=', account)
      .executeTakeFirst();
  const answer = (call: Call, repository: Repository, since: number) => {
    const { base, full } = placeOf(call, repository);
    return ok({
      ...{ subscribed: true, ignored: false, reason: null, created_at: timeOf(since) },
      url: `${base}/api/v1/repos/${full}/subscription`,
      repository_url: `${base}/api/v1/repos/${full}`,
    });
  };

  return [
    {
      method: 'GET',
      path,
      scope,
      signedIn: true,
      handle: async (call) => {
        const repository = await readable(call);
        const row = await find(repository, accountOf(call));
        if (row === undefined) throw unknown();
        return answer(call, repository, row.created_at);
      },
    },
    {
      method: 'PUT',
      path,
      scope,
      signedIn: true,
      handle: async (call) => {
        const repository = await readable(call);
        const account = accountOf(call);
        const row = { repository_id: repository.id, account, created_at: context.clock.now() };
        await context.commit((transaction: Kysely<Tables>) =>
          transaction
            .insertInto('repository_watches')
            .values(row)
            .onConflict((conflict) => conflict.doNothing())
            .execute(),
        );
        return answer(call, repository, (await find(repository, account))?.created_at ?? row.created_at);
      },
    },
    {
      method: 'DELETE',
      path,
      scope,
      signedIn: true,
      handle: async (call) => {
        const { id } = await readable(call);
        await context.commit((transaction: Kysely<Tables>) =>
          transaction
            .deleteFrom('repository_watches')
            .where('repository_id', '=', id)
            .where('account', '=', accountOf(call))
            .execute(),
        );
        return noContent;
      },
    },
    {
      method: 'GET',
      path: '/repos/:owner/:repo/subscribers',
      scope,
      handle: async (call) => {
        const { id } = await readable(call);
        const all = await db
          .selectFrom('repository_watches')
          .select('account')
          .where('repository_id', '=', id)
          .orderBy('created_at')
          .execute();
        const page = pageOf(call.query);
        const rows = await Promise.all(partOf(all, page).map(({ account }) => owners.ofAccount(account)));
        return ok(
          rows.map((row) => userOf(row, call.base)),
          listHeaders(call, page, all.length),
        );
      },
    },
    {
      method: 'GET',
      path: '/user/subscriptions',
      scope,
      signedIn: true,
      handle: async (call) => {
        const rows = await db
          .selectFrom('repository_watches')
          .select('repository_id')
          .where('account', '=', accountOf(call))
          .execute();
        const found = await Promise.all(rows.map(({ repository_id }) => repositories.byId(repository_id)));
        const seen = await Promise.all(
          found.map(async (each) => {
            const level = each === undefined ? 'none' : await access.level(call.visitor, each);
            return each === undefined || level === 'none' ? [] : [{ repository: each, level }];
          }),
        );
        const all = seen.flat();
        const page = pageOf(call.query);
        const some = await Promise.all(
          partOf(all, page).map(({ repository, level }) => shown(parts, call, repository, level)),
        );
        return ok(some, listHeaders(call, page, all.length));
      },
    },
  ];
}
