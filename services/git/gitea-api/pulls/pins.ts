import type { Kysely } from 'kysely';
import { Problem } from '../../../contracts/problem.ts';
import type { Issue } from '../../issues/issues.ts';
import { isPull } from '../../pulls/pulls.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Tables } from '../../store/tables.ts';
import { issueJson } from '../../wire/issues.ts';
import { getAccount, noContent, ok, route, signedInRoute, type Answer, type Call, type Route } from '../call.ts';
import { readUsers } from '../../wire/read-users.ts';
import { listAccountNames } from '../../issues/account-names.ts';
import { getIssue, requireNotArchived, getIssueRepository } from '../issues/issue-access.ts';
import { parseId } from '../paging.ts';
import { getRepositoryName, getRepositoryAddress } from '../repository-requests.ts';
import { pullsJson } from './pull-views.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'collaboration'>;

/** Maximum number of pinned issues, and of pinned pull requests, as in Gitea. */
const maxPinned = 3;
const pinPath = '/repos/:owner/:repo/issues/:index/pin';

/** Builds the routes of pinned issues and pull requests. */
export function pinRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/issues/pinned', 'issue', (call) => listPinnedIssues(deps, call)),
    route('GET', '/repos/:owner/:repo/pulls/pinned', 'repository', (call) => listPinnedPulls(deps, call)),
    route('GET', '/repos/:owner/:repo/new_pin_allowed', 'repository', (call) => checkPinAllowed(deps, call)),
    signedInRoute('POST', pinPath, 'issue', async (call) =>
      setPinPosition(deps, call, await getPinnable(deps, call), maxPinned),
    ),
    signedInRoute('DELETE', pinPath, 'issue', async (call) =>
      setPinPosition(deps, call, await getPinnable(deps, call), undefined),
    ),
    signedInRoute('PATCH', `${pinPath}/:position`, 'issue', (call) => movePin(deps, call)),
  ];
}

async function findPinned(
  { storage: { db }, collaboration: { issues } }: Dependencies,
  repository: number,
  pull: boolean,
): Promise<readonly Issue[]> {
  return issues.complete(await pinnedRows(db, repository, Number(pull)));
}

async function getPinnable(deps: Dependencies, call: Call) {
  const target = await getIssue(deps, call);
  if (target.level !== 'admin') throw new Problem('git.forbidden', 403, 'user should be an owner of the repository');
  requireNotArchived(target.repository);
  return target;
}

/** Pins an issue at a position, counted from 1, or unpins it. */
async function setPinPosition(
  deps: Dependencies,
  call: Call,
  target: Awaited<ReturnType<typeof getPinnable>>,
  to: number | undefined,
) {
  const { writer } = deps.collaboration;
  const { issue, repository } = target;
  await writer.run(repository, getAccount(call), async (work) => {
    const rows = await pinnedRows(work.db, repository.id, issue.pull);
    const others = rows.map(({ id }) => id).filter((id) => id !== issue.id);
    if (to !== undefined && others.length >= maxPinned)
      throw new Problem('git.pins', 400, 'The max number of Issues/Pulls have already been pinned');
    if (to === undefined) await setOrder(work.db, issue.id, 0);
    else others.splice(to - 1, 0, issue.id);
    for (const [index, id] of others.entries()) await setOrder(work.db, id, index + 1);
  });
  return noContent;
}

async function listPinnedIssues(deps: Dependencies, call: Call): Promise<Answer> {
  const { repository } = await getIssueRepository(deps.accessControl, call);
  const all = await findPinned(deps, repository.id, false);
  const toUser = await readUsers(deps, call, listAccountNames(all));
  return ok(all.map((issue) => issueJson(issue, repository, getRepositoryAddress(call, repository), toUser)));
}

async function listPinnedPulls(deps: Dependencies, call: Call): Promise<Answer> {
  const target = await deps.accessControl.lookup.find(call.caller, ...getRepositoryName(call));
  if (target === undefined) throw buildNotFoundProblem();
  return ok(await pullsJson(deps, call, target, (await findPinned(deps, target.repository.id, true)).filter(isPull)));
}

async function checkPinAllowed(deps: Dependencies, call: Call): Promise<Answer> {
  const { db } = deps.storage;
  const { repository } = await getIssueRepository(deps.accessControl, call);
  const isFree = async (pull: number) => (await pinnedRows(db, repository.id, pull)).length < maxPinned;
  return ok({ issues: await isFree(0), pull_requests: await isFree(1) });
}

async function movePin(deps: Dependencies, call: Call): Promise<Answer> {
  const target = await getPinnable(deps, call);
  if (target.issue.pin_order === 0) throw new Problem('git.unknown', 404, 'issue is not pinned');
  return setPinPosition(deps, call, target, parseId(call.params['position']));
}

function pinnedRows(db: Kysely<Tables>, repository: number, pull: number) {
  return db
    .selectFrom('issues')
    .selectAll()
    .where('repository_id', '=', repository)
    .where('pull', '=', pull)
    .where('pin_order', '>', 0)
    .orderBy('pin_order')
    .execute();
}

async function setOrder(db: Kysely<Tables>, issue: number, order: number): Promise<void> {
  await db.updateTable('issues').set({ pin_order: order }).where('id', '=', issue).execute();
}
