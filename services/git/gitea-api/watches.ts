import type { Kysely } from 'kysely';
import { unknown } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import { timeOf } from '../wire/time.ts';
import { userOf } from '../wire/users.ts';
import { accountOf, noContent, ok, route, signedInRoute, type Answer, type Call, type Route } from './call.ts';
import { listHeaders, pageOf, partOf } from './paging.ts';
import { named, placeOf, shown, type Db, type RestParts } from './api-dependencies.ts';

const scope = 'repository' as const;
const subscriptionPath = '/repos/:owner/:repo/subscription';

/** Who hears of everything that is said in a repository's issues and pull requests. */
export function watchRoutes(parts: RestParts & { readonly db: Db }): readonly Route[] {
  return [
    signedInRoute('GET', subscriptionPath, scope, (call) => readWatch(parts, call)),
    signedInRoute('PUT', subscriptionPath, scope, (call) => addWatch(parts, call)),
    signedInRoute('DELETE', subscriptionPath, scope, (call) => deleteWatch(parts, call)),
    route('GET', '/repos/:owner/:repo/subscribers', scope, (call) => listWatchers(parts, call)),
    signedInRoute('GET', '/user/subscriptions', scope, (call) => listOwnWatches(parts, call)),
  ];
}

function getReadableRepository({ lookup }: RestParts & { readonly db: Db }, call: Call) {
  return lookup.need(call.visitor, named(call), 'read');
}

function findWatch({ db }: RestParts & { readonly db: Db }, { id }: Repository, account: string) {
  return db
    .selectFrom('repository_watches')
    .selectAll()
    .where('repository_id', '=', id)
    .where('account', '=', account)
    .executeTakeFirst();
}

function watchResponse(call: Call, repository: Repository, since: number) {
  const { base, full } = placeOf(call, repository);
  return ok({
    ...{ subscribed: true, ignored: false, reason: null, created_at: timeOf(since) },
    url: `${base}/api/v1/repos/${full}/subscription`,
    repository_url: `${base}/api/v1/repos/${full}`,
  });
}

async function readWatch(parts: RestParts & { readonly db: Db }, call: Call): Promise<Answer> {
  const repository = await getReadableRepository(parts, call);
  const row = await findWatch(parts, repository, accountOf(call));
  if (row === undefined) throw unknown();
  return watchResponse(call, repository, row.created_at);
}

async function addWatch(parts: RestParts & { readonly db: Db }, call: Call): Promise<Answer> {
  const { context } = parts;
  const repository = await getReadableRepository(parts, call);
  const account = accountOf(call);
  const row = { repository_id: repository.id, account, created_at: context.clock.now() };
  await context.commit((transaction: Kysely<Tables>) =>
    transaction
      .insertInto('repository_watches')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  );
  return watchResponse(call, repository, (await findWatch(parts, repository, account))?.created_at ?? row.created_at);
}

async function deleteWatch(parts: RestParts & { readonly db: Db }, call: Call): Promise<Answer> {
  const { context } = parts;
  const { id } = await getReadableRepository(parts, call);
  await context.commit((transaction: Kysely<Tables>) =>
    transaction
      .deleteFrom('repository_watches')
      .where('repository_id', '=', id)
      .where('account', '=', accountOf(call))
      .execute(),
  );
  return noContent;
}

async function listWatchers(parts: RestParts & { readonly db: Db }, call: Call): Promise<Answer> {
  const { db, owners } = parts;
  const { id } = await getReadableRepository(parts, call);
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
}

async function listOwnWatches(parts: RestParts & { readonly db: Db }, call: Call): Promise<Answer> {
  const { access, db, repositories } = parts;
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
}
