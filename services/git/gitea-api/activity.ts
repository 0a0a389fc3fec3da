import type { GitEvent } from '../../contracts/git/overview-api.ts';
import { readHeatmap } from '../repositories/heatmap.ts';
import { readHistory } from '../repositories/history.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { RepositoryVisibility } from '../repositories/repository-query.ts';
import { formatTime } from '../wire/time.ts';
import { parseProfile } from '../store/owner-profile.ts';
import { toUserJson } from '../wire/users.ts';
import { requireIdentity, ok, type Answer, type Call, type Route } from './call.ts';
import { parsePage, getPageItems } from './paging.ts';
import { getRepositoryName, toRepositoryView } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl'>;

/** Maximum number of events in a feed. */
const maxEvents = 500;
/** Time span that the heatmap covers, ms. */
const yearMs = 366 * 24 * 3600 * 1000;
/** Prefixes of event IDs. The index makes the numeric IDs of different kinds distinct, so the order must not change. */
const idPrefixes = ['p', 'i', 'e', 'r'];

/** Builds the routes of activity feeds and heatmaps. */
export function activityRoutes(deps: Dependencies): readonly Route[] {
  return [
    activityRoute('/repos/:owner/:repo/activities/feeds', 'repository', (call) => listRepositoryFeed(deps, call)),
    activityRoute('/users/:user/activities/feeds', 'user', (call) => listUserFeed(deps, call)),
    activityRoute('/users/:user/heatmap', 'user', (call) => answerHeatmap(deps, call)),
  ];
}

function getVisibility({ accessControl: { access } }: Dependencies, call: Call): Promise<RepositoryVisibility> {
  return access.getVisibility(call.caller);
}

/** Returns the account in the path; undefined when it hides its activity from the caller. */
async function findVisibleActor({ storage: { owners } }: Dependencies, call: Call): Promise<string | undefined> {
  const row = await owners.find(call.params['user'] ?? '');
  if (row?.kind !== 'account') throw buildNotFoundProblem();
  const { account, role } = requireIdentity(call.caller);
  const isHidden = parseProfile(row).hide_activity === true && role !== 'admin' && account !== row.name;
  return isHidden ? undefined : row.name;
}

async function buildFeed(deps: Dependencies, call: Call, events: readonly GitEvent[]) {
  const { access } = deps.accessControl;
  const { owners, repositories } = deps.storage;
  const items: unknown[] = [];
  for (const event of getPageItems(events, parsePage(call.query))) {
    const repository = await repositories.find(event.owner, event.name);
    const actor = await owners.find(event.account);
    if (repository === undefined || actor === undefined) continue;
    items.push({
      id: Number(event.id.slice(1)) * idPrefixes.length + idPrefixes.indexOf(event.id.slice(0, 1)),
      user_id: repository.ownerId,
      op_type: getOperation(event),
      act_user_id: actor.id,
      act_user: toUserJson(actor, call.base),
      repo_id: repository.id,
      repo: await toRepositoryView(deps, call, repository, await access.getLevel(call.caller, repository)),
      comment_id: 0,
      comment: null,
      ref_name: event.number === null ? event.what : '',
      is_private: repository.private,
      content: event.number === null ? event.commit : `${event.number}|${event.what}`,
      created: formatTime(event.time),
    });
  }
  return ok(items);
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

async function listRepositoryFeed(deps: Dependencies, call: Call): Promise<Answer> {
  const { lookup } = deps.accessControl;
  const { id } = await lookup.require(call.caller, getRepositoryName(call), 'read');
  return buildFeed(
    deps,
    call,
    await readHistory(deps.storage, { public: false, owners: [], ids: [id] }, { limit: maxEvents }),
  );
}

async function listUserFeed(deps: Dependencies, call: Call): Promise<Answer> {
  const account = await findVisibleActor(deps, call);
  if (account === undefined) return ok([]);
  return buildFeed(
    deps,
    call,
    await readHistory(deps.storage, await getVisibility(deps, call), { account, limit: maxEvents }),
  );
}

async function answerHeatmap(deps: Dependencies, call: Call): Promise<Answer> {
  const account = await findVisibleActor(deps, call);
  if (account === undefined) return ok([]);
  const since = deps.context.clock.now() - yearMs;
  return ok(await readHeatmap(deps.storage, { visibility: await getVisibility(deps, call), since, account }));
}

/** Returns the name that Gitea gives to the kind of an event. */
function getOperation({ kind, pull }: GitEvent): string {
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
