import { sql } from 'kysely';
import type { GitEvent } from '../../contracts/git/overview-api.ts';
import { readHistory } from '../repositories/history.ts';
import { unknown } from '../repositories/lookup.ts';
import type { Sight } from '../repositories/repositories.ts';
import { timeOf } from '../wire/time.ts';
import { profileOf, userOf } from '../wire/users.ts';
import { needIdentity, ok, type Answer, type Call, type Route } from './call.ts';
import { pageOf, partOf } from './paging.ts';
import { named, shown, type Db, type RestParts } from './api-dependencies.ts';

/** As far back as lists of activity go, and as counts of it do, ms. */
const mostEvents = 500;
const year = 366 * 24 * 3600 * 1000;
const quarter = 15 * 60;
/** In the order in which ids of events of these kinds are numbered. */
const idKinds = ['p', 'i', 'e', 'r'];

/** What happened in repositories, and how much people did when. */
export function activityRoutes(parts: RestParts & { readonly db: Db }): readonly Route[] {
  return [
    activityRoute('/repos/:owner/:repo/activities/feeds', 'repository', (call) => listRepositoryFeed(parts, call)),
    activityRoute('/users/:user/activities/feeds', 'user', (call) => listUserFeed(parts, call)),
    activityRoute('/users/:user/heatmap', 'user', (call) => readHeatmap(parts, call)),
  ];
}

function getVisibility({ access }: RestParts & { readonly db: Db }, call: Call): Promise<Sight> {
  return access.sight(call.visitor);
}

/** Whose activity is asked for; undefined where he keeps it to himself. */
async function findVisibleActor({ owners }: RestParts & { readonly db: Db }, call: Call): Promise<string | undefined> {
  const row = await owners.find(call.params['user'] ?? '');
  if (row?.kind !== 'account') throw unknown();
  const { account, role } = needIdentity(call.visitor);
  const isHidden = profileOf(row).hide_activity === true && role !== 'admin' && account !== row.name;
  return isHidden ? undefined : row.name;
}

async function buildFeed(parts: RestParts & { readonly db: Db }, call: Call, events: readonly GitEvent[]) {
  const { access, owners, repositories } = parts;
  const some: unknown[] = [];
  for (const event of partOf(events, pageOf(call.query))) {
    const repository = await repositories.find(event.owner, event.name);
    const doer = await owners.find(event.account);
    if (repository === undefined || doer === undefined) continue;
    some.push({
      id: Number(event.id.slice(1)) * idKinds.length + idKinds.indexOf(event.id.slice(0, 1)),
      user_id: repository.ownerId,
      op_type: operationOf(event),
      act_user_id: doer.id,
      act_user: userOf(doer, call.base),
      repo_id: repository.id,
      repo: await shown(parts, call, repository, await access.level(call.visitor, repository)),
      comment_id: 0,
      comment: null,
      ref_name: event.number === null ? event.what : '',
      is_private: repository.private,
      content: event.number === null ? event.commit : `${event.number}|${event.what}`,
      created: timeOf(event.time),
    });
  }
  return ok(some);
}

function activityRoute(path: string, scope: Route['scope'], handle: Route['handle']): Route {
  return {
    method: 'GET',
    path,
    scope,
    signedIn: true,
    handle,
  };
}

async function listRepositoryFeed(parts: RestParts & { readonly db: Db }, call: Call): Promise<Answer> {
  const { lookup } = parts;
  const { id } = await lookup.need(call.visitor, named(call), 'read');
  return buildFeed(
    parts,
    call,
    await readHistory(parts, { public: false, owners: [], ids: [id] }, { limit: mostEvents }),
  );
}

async function listUserFeed(parts: RestParts & { readonly db: Db }, call: Call): Promise<Answer> {
  const account = await findVisibleActor(parts, call);
  if (account === undefined) return ok([]);
  return buildFeed(
    parts,
    call,
    await readHistory(parts, await getVisibility(parts, call), { account, limit: mostEvents }),
  );
}

async function readHeatmap(parts: RestParts & { readonly db: Db }, call: Call): Promise<Answer> {
  const { context, db, repositories } = parts;
  const name = await findVisibleActor(parts, call);
  if (name === undefined) return ok([]);
  const ids = repositories.idsOf({ sight: await getVisibility(parts, call) });
  const since = context.clock.now() - year;
  const times = db
    .selectFrom('push_history')
    .select('created_at')
    .where('account', '=', name)
    .where('repository_id', 'in', ids)
    .unionAll(db.selectFrom('issues').select('created_at').where('author', '=', name).where('repository_id', 'in', ids))
    .unionAll(
      db
        .selectFrom('issue_entries')
        .innerJoin('issues', 'issues.id', 'issue_entries.issue_id')
        .select('issue_entries.created_at')
        .where('issue_entries.author', '=', name)
        .where('issues.repository_id', 'in', ids),
    );
  const rows = await db
    .selectFrom(times.as('times'))
    .select([
      sql<number>`created_at / ${sql.lit(1000 * quarter)}`.as('part'),
      (is) => is.fn.countAll<number>().as('count'),
    ])
    .where('created_at', '>=', since)
    .groupBy('part')
    .orderBy('part')
    .execute();
  return ok(rows.map(({ part, count }) => ({ timestamp: Number(part) * quarter, contributions: Number(count) })));
}

/** What happened, by the peer's names. */
function operationOf({ kind, pull }: GitEvent): string {
  const subject = pull ? 'pull_request' : 'issue';
  switch (kind) {
    case 'pushed':
    case 'created':
      return 'commit_repo';
    case 'deleted':
      return 'delete_branch';
    case 'opened':
      return `create_${subject}`;
    case 'closed':
      return `close_${subject}`;
    case 'reopened':
      return `reopen_${subject}`;
    case 'merged':
      return 'merge_pull_request';
    case 'commented':
    case 'reviewed':
      return pull ? 'comment_pull' : 'comment_issue';
    case 'released':
      return 'publish_release';
  }
}
