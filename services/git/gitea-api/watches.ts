import type { Kysely } from 'kysely';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import { formatTime } from '../wire/time.ts';
import { toUserJson } from '../wire/users.ts';
import { getAccount, noContent, ok, route, signedInRoute, type Answer, type Call, type Route } from './call.ts';
import { listHeaders, parsePage, getPageItems } from './paging.ts';
import { getRepositoryName, getRepositoryAddress, toRepositoryView } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl'>;

const scope = 'repository' as const;
const subscriptionPath = '/repos/:owner/:repo/subscription';

/** Builds the routes of watched repositories. Watchers are notified of all issues and pull requests. */
export function watchRoutes(deps: Dependencies): readonly Route[] {
  return [
    signedInRoute('GET', subscriptionPath, scope, (call) => readWatch(deps, call)),
    signedInRoute('PUT', subscriptionPath, scope, (call) => addWatch(deps, call)),
    signedInRoute('DELETE', subscriptionPath, scope, (call) => deleteWatch(deps, call)),
    route('GET', '/repos/:owner/:repo/subscribers', scope, (call) => listWatchers(deps, call)),
    signedInRoute('GET', '/user/subscriptions', scope, (call) => listOwnWatches(deps, call)),
  ];
}

function getReadableRepository({ accessControl: { lookup } }: Dependencies, call: Call) {
  return lookup.require(call.caller, getRepositoryName(call), 'read');
}

function findWatch({ storage: { db } }: Dependencies, { id }: Repository, account: string) {
  return db
    .selectFrom('repository_watches')
    .selectAll()
    .where('repository_id', '=', id)
    .where('account', '=', account)
    .executeTakeFirst();
}

function watchResponse(call: Call, repository: Repository, since: number) {
  const { base, full } = getRepositoryAddress(call, repository);
  return ok({
    subscribed: true,
    ignored: false,
    reason: null,
    created_at: formatTime(since),
    url: `${base}/api/v1/repos/${full}/subscription`,
    repository_url: `${base}/api/v1/repos/${full}`,
  });
}

async function readWatch(deps: Dependencies, call: Call): Promise<Answer> {
  const repository = await getReadableRepository(deps, call);
  const row = await findWatch(deps, repository, getAccount(call));
  if (row === undefined) throw buildNotFoundProblem();
  return watchResponse(call, repository, row.created_at);
}

async function addWatch(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const repository = await getReadableRepository(deps, call);
  const account = getAccount(call);
  const row = { repository_id: repository.id, account, created_at: context.clock.now() };
  await context.commit((transaction: Kysely<Tables>) =>
    transaction
      .insertInto('repository_watches')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  );
  return watchResponse(call, repository, (await findWatch(deps, repository, account))?.created_at ?? row.created_at);
}

async function deleteWatch(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { id } = await getReadableRepository(deps, call);
  await context.commit((transaction: Kysely<Tables>) =>
    transaction
      .deleteFrom('repository_watches')
      .where('repository_id', '=', id)
      .where('account', '=', getAccount(call))
      .execute(),
  );
  return noContent;
}

async function listWatchers(deps: Dependencies, call: Call): Promise<Answer> {
  const { db, owners } = deps.storage;
  const { id } = await getReadableRepository(deps, call);
  const all = await db
    .selectFrom('repository_watches')
    .select('account')
    .where('repository_id', '=', id)
    .orderBy('created_at')
    .execute();
  const page = parsePage(call.query);
  const rows = await Promise.all(getPageItems(all, page).map(({ account }) => owners.getForAccount(account)));
  return ok(
    rows.map((row) => toUserJson(row, call.base)),
    listHeaders(call, page, all.length),
  );
}

async function listOwnWatches(deps: Dependencies, call: Call): Promise<Answer> {
  const { access } = deps.accessControl;
  const { db, repositories } = deps.storage;
  const rows = await db
    .selectFrom('repository_watches')
    .select('repository_id')
    .where('account', '=', getAccount(call))
    .execute();
  const result = await Promise.all(rows.map(({ repository_id }) => repositories.findById(repository_id)));
  const visibleRows = await Promise.all(
    result.map(async (each) => {
      const level = each === undefined ? 'none' : await access.getLevel(call.caller, each);
      return each === undefined || level === 'none' ? [] : [{ repository: each, level }];
    }),
  );
  const all = visibleRows.flat();
  const page = parsePage(call.query);
  const pageItems = await Promise.all(
    getPageItems(all, page).map(({ repository, level }) => toRepositoryView(deps, call, repository, level)),
  );
  return ok(pageItems, listHeaders(call, page, all.length));
}
