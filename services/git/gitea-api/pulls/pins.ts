import type { Kysely } from 'kysely';
import { Problem } from '../../../contracts/problem.ts';
import type { Issue } from '../../issues/issues.ts';
import { isPull } from '../../pulls/pulls.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Tables } from '../../store/tables.ts';
import { issueJson } from '../../wire/issues.ts';
import { accountOf, noContent, ok, route, signedInRoute, type Answer, type Call, type Route } from '../call.ts';
import { issueAt, namesIn, needOpen, peopleOf, repositoryAt } from '../issues/issue-access.ts';
import { numberOf } from '../paging.ts';
import { named, placeOf } from '../api-dependencies.ts';
import { pullsJson, type PullRestParts } from './pull-views.ts';

/** As many as the peer keeps at the top of a list, of issues and of pull requests each. */
const mostPinned = 3;
const pinPath = '/repos/:owner/:repo/issues/:index/pin';

/** Issues and pull requests that stay at the top of their lists. */
export function pinRoutes(parts: PullRestParts): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/issues/pinned', 'issue', (call) => listPinnedIssues(parts, call)),
    route('GET', '/repos/:owner/:repo/pulls/pinned', 'repository', (call) => listPinnedPulls(parts, call)),
    route('GET', '/repos/:owner/:repo/new_pin_allowed', 'repository', (call) => checkPinAllowed(parts, call)),
    signedInRoute('POST', pinPath, 'issue', async (call) =>
      setPinPosition(parts, call, await getPinnable(parts, call), mostPinned),
    ),
    signedInRoute('DELETE', pinPath, 'issue', async (call) =>
      setPinPosition(parts, call, await getPinnable(parts, call), undefined),
    ),
    signedInRoute('PATCH', `${pinPath}/:position`, 'issue', (call) => movePin(parts, call)),
  ];
}

async function findPinned({ db, issues }: PullRestParts, repository: number, pull: boolean): Promise<readonly Issue[]> {
  return issues.complete(await pinnedRows(db, repository, Number(pull)));
}

async function getPinnable(parts: PullRestParts, call: Call) {
  const place = await issueAt(parts, call);
  if (place.level !== 'admin') throw new Problem('git.forbidden', 403, 'user should be an owner of the repository');
  needOpen(place.repository);
  return place;
}

/** Puts one at a place among those that are pinned, from 1 on, or takes it from there. */
async function setPinPosition(
  parts: PullRestParts,
  call: Call,
  place: Awaited<ReturnType<typeof getPinnable>>,
  to: number | undefined,
) {
  const { writer } = parts;
  const { issue, repository } = place;
  await writer.run(repository, accountOf(call), async (work) => {
    const rows = await pinnedRows(work.db, repository.id, issue.pull);
    const others = rows.map(({ id }) => id).filter((id) => id !== issue.id);
    if (to !== undefined && others.length >= mostPinned)
      throw new Problem('git.pins', 400, 'The max number of Issues/Pulls have already been pinned');
    if (to === undefined) await setOrder(work.db, issue.id, 0);
    else others.splice(to - 1, 0, issue.id);
    for (const [at, id] of others.entries()) await setOrder(work.db, id, at + 1);
  });
  return noContent;
}

async function listPinnedIssues(parts: PullRestParts, call: Call): Promise<Answer> {
  const { repository } = await repositoryAt(parts, call);
  const all = await findPinned(parts, repository.id, false);
  const people = await peopleOf(parts, call, namesIn(all));
  return ok(all.map((issue) => issueJson(issue, repository, placeOf(call, repository), people)));
}

async function listPinnedPulls(parts: PullRestParts, call: Call): Promise<Answer> {
  const place = await parts.lookup.find(call.visitor, ...named(call));
  if (place === undefined) throw unknown();
  return ok(await pullsJson(parts, call, place, (await findPinned(parts, place.repository.id, true)).filter(isPull)));
}

async function checkPinAllowed(parts: PullRestParts, call: Call): Promise<Answer> {
  const { db } = parts;
  const { repository } = await repositoryAt(parts, call);
  const isFree = async (pull: number) => (await pinnedRows(db, repository.id, pull)).length < mostPinned;
  return ok({ issues: await isFree(0), pull_requests: await isFree(1) });
}

async function movePin(parts: PullRestParts, call: Call): Promise<Answer> {
  const place = await getPinnable(parts, call);
  if (place.issue.pin_order === 0) throw new Problem('git.unknown', 404, 'issue is not pinned');
  return setPinPosition(parts, call, place, numberOf(call.params['position']));
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
