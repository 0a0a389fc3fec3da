import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { validateRepositoryName } from '../domain/names.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { OwnerRow } from '../store/tables.ts';
import { toUserJson } from '../wire/users.ts';
import {
  getAccount,
  readJsonBody,
  noContent,
  ok,
  optional,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { listHeaders, parsePage, getPageItems } from './paging.ts';
import { getRepositoryName, toRepositoryView, visibleOwner } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'features'>;

const forkBody = z.object({ organization: optional(z.string()), name: optional(z.string()) });

/** Builds the routes of forks and stars. */
export function forkRoutes(deps: Dependencies): readonly Route[] {
  const { forks } = deps.features;
  return [
    route('GET', '/repos/:owner/:repo/forks', 'repository', async (call) =>
      listReadable(deps, call, await forks.listForkIds((await getReadableRepository(deps, call)).id)),
    ),
    signedInRoute('POST', '/repos/:owner/:repo/forks', 'repository', (call) => createFork(deps, call)),
    route('GET', '/repos/:owner/:repo/stargazers', 'repository', (call) => listStargazers(deps, call)),
    signedInRoute('GET', '/user/starred', 'repository', async (call) =>
      listReadable(deps, call, await forks.listStarred(getAccount(call))),
    ),
    signedInRoute('GET', '/user/starred/:owner/:repo', 'repository', (call) => checkStar(deps, call)),
    signedInRoute('PUT', '/user/starred/:owner/:repo', 'repository', (call) => addStar(deps, call)),
    signedInRoute('DELETE', '/user/starred/:owner/:repo', 'repository', (call) => removeStar(deps, call)),
  ];
}

function getReadableRepository({ accessControl: { lookup } }: Dependencies, call: Call) {
  return lookup.require(call.caller, getRepositoryName(call), 'read');
}

async function repositoryView(deps: Dependencies, call: Call, repository: Repository) {
  const { access } = deps.accessControl;
  return toRepositoryView(deps, call, repository, await access.getLevel(call.caller, repository));
}

/** Lists the repositories that the caller may read. */
async function listReadable(deps: Dependencies, call: Call, ids: readonly number[]) {
  const { access } = deps.accessControl;
  const { repositories } = deps.storage;
  const result = await Promise.all(ids.map((id) => repositories.findById(id)));
  const levels = await Promise.all(
    result.map(async (each) => each !== undefined && (await access.hasLevel(call.caller, each, 'read'))),
  );
  const all = result.flatMap((each, index) => (each !== undefined && levels[index] === true ? [each] : []));
  const page = parsePage(call.query);
  return ok(
    await Promise.all(getPageItems(all, page).map((each) => repositoryView(deps, call, each))),
    listHeaders(call, page, all.length),
  );
}

async function getForkOwner(deps: Dependencies, call: Call, name: string): Promise<OwnerRow> {
  const { access } = deps.accessControl;
  const row = await visibleOwner(deps, call.caller, name);
  if (row === undefined) throw new Problem('git.invalid', 422, `user does not exist [name: ${name}]`);
  if (!(await access.administersOwner(call.caller, row)))
    throw new Problem('git.forbidden', 403, `User is no owner of ${name}`);
  return row;
}

async function createFork(deps: Dependencies, call: Call): Promise<Answer> {
  const { forks } = deps.features;
  const { owners } = deps.storage;
  const parent = await getReadableRepository(deps, call);
  const input = await readJsonBody(call, forkBody);
  const { organization = '' } = input;
  const target =
    organization === '' ? await owners.getForAccount(getAccount(call)) : await getForkOwner(deps, call, organization);
  const name = input.name === undefined || input.name === '' ? parent.name : input.name;
  const nameProblem = validateRepositoryName(name);
  if (nameProblem !== undefined) throw new Problem('git.invalid', 422, nameProblem);
  return { status: 202, json: await repositoryView(deps, call, await forks.create(parent, target, name)) };
}

async function listStargazers(deps: Dependencies, call: Call): Promise<Answer> {
  const { forks } = deps.features;
  const { owners } = deps.storage;
  const all = await forks.listStargazers((await getReadableRepository(deps, call)).id);
  const page = parsePage(call.query);
  const rows = await Promise.all(getPageItems(all, page).map((name) => owners.getForAccount(name)));
  return ok(
    rows.map((row) => toUserJson(row, call.base)),
    listHeaders(call, page, all.length),
  );
}

async function checkStar(deps: Dependencies, call: Call): Promise<Answer> {
  const { forks } = deps.features;
  const { id } = await getReadableRepository(deps, call);
  if (!(await forks.listStarred(getAccount(call))).includes(id)) throw buildNotFoundProblem();
  return noContent;
}

async function addStar(deps: Dependencies, call: Call): Promise<Answer> {
  const { forks } = deps.features;
  await forks.star((await getReadableRepository(deps, call)).id, getAccount(call));
  return noContent;
}

async function removeStar(deps: Dependencies, call: Call): Promise<Answer> {
  const { forks } = deps.features;
  await forks.unstar((await getReadableRepository(deps, call)).id, getAccount(call));
  return noContent;
}
