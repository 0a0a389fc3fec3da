import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { repositoryNameProblem } from '../domain/names.ts';
import { unknown } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { OwnerRow } from '../store/tables.ts';
import { userOf } from '../wire/users.ts';
import {
  accountOf,
  bodyOf,
  noContent,
  ok,
  optional,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { listHeaders, pageOf, partOf } from './paging.ts';
import { named, shown, visibleOwner, type RestParts } from './api-dependencies.ts';

const forkBody = z.object({ organization: optional(z.string()), name: optional(z.string()) });

/** Forks and stars. */
export function forkRoutes(parts: RestParts): readonly Route[] {
  const { forks } = parts;
  return [
    route('GET', '/repos/:owner/:repo/forks', 'repository', async (call) =>
      listReadable(parts, call, await forks.of((await getReadableRepository(parts, call)).id)),
    ),
    signedInRoute('POST', '/repos/:owner/:repo/forks', 'repository', (call) => createFork(parts, call)),
    route('GET', '/repos/:owner/:repo/stargazers', 'repository', (call) => listStargazers(parts, call)),
    signedInRoute('GET', '/user/starred', 'repository', async (call) =>
      listReadable(parts, call, await forks.starredBy(accountOf(call))),
    ),
    signedInRoute('GET', '/user/starred/:owner/:repo', 'repository', (call) => checkStar(parts, call)),
    signedInRoute('PUT', '/user/starred/:owner/:repo', 'repository', (call) => addStar(parts, call)),
    signedInRoute('DELETE', '/user/starred/:owner/:repo', 'repository', (call) => removeStar(parts, call)),
  ];
}

function getReadableRepository({ lookup }: RestParts, call: Call) {
  return lookup.need(call.visitor, named(call), 'read');
}

async function repositoryView(parts: RestParts, call: Call, repository: Repository) {
  const { access } = parts;
  return shown(parts, call, repository, await access.level(call.visitor, repository));
}

/** Those of these numbers that the caller may read. */
async function listReadable(parts: RestParts, call: Call, ids: readonly number[]) {
  const { access, repositories } = parts;
  const found = await Promise.all(ids.map((id) => repositories.byId(id)));
  const levels = await Promise.all(
    found.map(async (each) => each !== undefined && (await access.may(call.visitor, each, 'read'))),
  );
  const all = found.flatMap((each, at) => (each !== undefined && levels[at] === true ? [each] : []));
  const page = pageOf(call.query);
  return ok(
    await Promise.all(partOf(all, page).map((each) => repositoryView(parts, call, each))),
    listHeaders(call, page, all.length),
  );
}

async function getForkOwner(parts: RestParts, call: Call, name: string): Promise<OwnerRow> {
  const { access } = parts;
  const row = await visibleOwner(parts, call.visitor, name);
  if (row === undefined) throw new Problem('git.invalid', 422, `user does not exist [name: ${name}]`);
  if (!(await access.administersOwner(call.visitor, row)))
    throw new Problem('git.forbidden', 403, `User is no owner of ${name}`);
  return row;
}

async function createFork(parts: RestParts, call: Call): Promise<Answer> {
  const { forks, owners } = parts;
  const parent = await getReadableRepository(parts, call);
  const asked = await bodyOf(call, forkBody);
  const { organization = '' } = asked;
  const target =
    organization === '' ? await owners.ofAccount(accountOf(call)) : await getForkOwner(parts, call, organization);
  const name = asked.name === undefined || asked.name === '' ? parent.name : asked.name;
  const wrong = repositoryNameProblem(name);
  if (wrong !== undefined) throw new Problem('git.invalid', 422, wrong);
  return { status: 202, json: await repositoryView(parts, call, await forks.create(parent, target, name)) };
}

async function listStargazers(parts: RestParts, call: Call): Promise<Answer> {
  const { forks, owners } = parts;
  const all = await forks.stargazers((await getReadableRepository(parts, call)).id);
  const page = pageOf(call.query);
  const rows = await Promise.all(partOf(all, page).map((name) => owners.ofAccount(name)));
  return ok(
    rows.map((row) => userOf(row, call.base)),
    listHeaders(call, page, all.length),
  );
}

async function checkStar(parts: RestParts, call: Call): Promise<Answer> {
  const { forks } = parts;
  const { id } = await getReadableRepository(parts, call);
  if (!(await forks.starredBy(accountOf(call))).includes(id)) throw unknown();
  return noContent;
}

async function addStar(parts: RestParts, call: Call): Promise<Answer> {
  const { forks } = parts;
  await forks.star((await getReadableRepository(parts, call)).id, accountOf(call));
  return noContent;
}

async function removeStar(parts: RestParts, call: Call): Promise<Answer> {
  const { forks } = parts;
  await forks.unstar((await getReadableRepository(parts, call)).id, accountOf(call));
  return noContent;
}
