import type { Kysely } from 'kysely';
import { Problem } from '../../../contracts/problem.ts';
import type { Issue } from '../../issues/issues.ts';
import { isPull } from '../../pulls/pulls.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Tables } from '../../store/tables.ts';
import { issueJson } from '../../wire/issues.ts';
import { accountOf, noContent, ok, type Call, type Route } from '../call.ts';
import { issueAt, namesIn, needOpen, peopleOf, repositoryAt } from '../issues/issue-access.ts';
import { numberOf } from '../paging.ts';
import { named, placeOf } from '../api-dependencies.ts';
import { pullsJson, type PullRestParts } from './pull-views.ts';

/** As many as the peer keeps at the top of a list, of issues and of pull requests each. */
const mostPinned = 3;

/** Issues and pull requests that stay at the top of their lists. */
export function pinRoutes(parts: PullRestParts): readonly Route[] {
  const { db, issues, writer } = parts;

  const pinned = async (repository: number, pull: boolean): Promise<readonly Issue[]> =>
    issues.complete(await pinnedRows(db, repository, Number(pull)));
  const pinnable = async (call: Call) => {
    const place = await issueAt(parts, call);
    if (place.level !== 'admin') throw new Problem('git.forbidden', 403, 'user should be an owner of the repository');
    needOpen(place.repository);
    return place;
  };
  /** Puts one at a place among those that are pinned, from 1 on, or takes it from there. */
  const move = async (call: Call, place: Awaited<ReturnType<typeof pinnable>>, to: number | undefined) => {
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
  };
  const path = '/repos/:owner/:repo/issues/:index/pin';

  return [
    {
      method: 'GET',
      path: '/repos/:owner/:repo/issues/pinned',
      scope: 'issue',
      handle: async (call) => {
        const { repository } = await repositoryAt(parts, call);
        const all = await pinned(repository.id, false);
        const people = await peopleOf(parts, call, namesIn(all));
        return ok(all.map((issue) => issueJson(issue, repository, placeOf(call, repository), people)));
      },
    },
    {
      method: 'GET',
      path: '/repos/:owner/:repo/pulls/pinned',
      scope: 'repository',
      handle: async (call) => {
        const place = await parts.lookup.find(call.visitor, ...named(call));
        if (place === undefined) throw unknown();
        return ok(await pullsJson(parts, call, place, (await pinned(place.repository.id, true)).filter(isPull)));
      },
    },
    {
      method: 'GET',
      path: '/repos/:owner/:repo/new_pin_allowed',
      scope: 'repository',
      handle: async (call) => {
        const { repository } = await repositoryAt(parts, call);
        const isFree = async (pull: number) => (await pinnedRows(db, repository.id, pull)).length < mostPinned;
        return ok({ issues: await isFree(0), pull_requests: await isFree(1) });
      },
    },
    {
      method: 'POST',
      path,
      scope: 'issue',
      signedIn: true,
      handle: async (call) => move(call, await pinnable(call), mostPinned),
    },
    {
      method: 'DELETE',
      path,
      scope: 'issue',
      signedIn: true,
      handle: async (call) => move(call, await pinnable(call), undefined),
    },
    {
      method: 'PATCH',
      path: `${path}/:position`,
      scope: 'issue',
      signedIn: true,
      handle: async (call) => {
        const place = await pinnable(call);
        if (place.issue.pin_order === 0) throw new Problem('git.unknown', 404, 'issue is not pinned');
        return move(call, place, numberOf(call.params['position']));
      },
    },
  ];
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
