import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { toUserJson } from '../wire/users.ts';
import {
  getAccount,
  readJsonBody,
  noContent,
  ok,
  optional,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { listHeaders, parsePage, getPageItems } from './paging.ts';
import { getLevelOfAccount, getRepositoryName } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl'>;

const body = z.object({ permission: optional(z.string()) });
const kinds = { read: 'read', write: 'write', admin: 'admin', owner: 'admin' } as const;
const collaboratorsPath = '/repos/:owner/:repo/collaborators';

/** Builds the routes of collaborators. */
export function collaboratorRoutes(deps: Dependencies): readonly Route[] {
  return [
    signedInRoute('GET', collaboratorsPath, 'repository', (call) => listCollaborators(deps, call)),
    signedInRoute('GET', `${collaboratorsPath}/:user`, 'repository', (call) => checkCollaborator(deps, call)),
    signedInRoute('PUT', `${collaboratorsPath}/:user`, 'repository', (call) => setCollaborator(deps, call)),
    signedInRoute('DELETE', `${collaboratorsPath}/:user`, 'repository', (call) => removeCollaborator(deps, call)),
    signedInRoute('GET', `${collaboratorsPath}/:user/permission`, 'repository', (call) => readPermission(deps, call)),
  ];
}

function getAdministered({ accessControl: { lookup } }: Dependencies, call: Call) {
  return lookup.require(call.caller, getRepositoryName(call), 'admin');
}

async function getRequestedAccount({ storage: { owners } }: Dependencies, call: Call) {
  const row = await owners.find(call.params['user'] ?? '');
  if (row?.kind !== 'account') throw buildNotFoundProblem();
  return row;
}

async function listCollaborators(
  { accessControl: { collaborators, lookup }, storage: { owners } }: Dependencies,
  call: Call,
): Promise<Answer> {
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'read');
  const all = await collaborators.list(repository.id);
  const page = parsePage(call.query);
  const rows = await Promise.all(getPageItems(all, page).map(({ account }) => owners.getForAccount(account)));
  return ok(
    rows.map((row) => toUserJson(row, call.base)),
    listHeaders(call, page, all.length),
  );
}

async function checkCollaborator(deps: Dependencies, call: Call): Promise<Answer> {
  const { collaborators, lookup } = deps.accessControl;
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'read');
  const { name } = await getRequestedAccount(deps, call);
  if (!(await collaborators.list(repository.id)).some(({ account }) => account === name)) throw buildNotFoundProblem();
  return noContent;
}

async function setCollaborator(deps: Dependencies, call: Call): Promise<Answer> {
  const { collaborators } = deps.accessControl;
  const repository = await getAdministered(deps, call);
  const { name } = await getRequestedAccount(deps, call);
  const { permission = 'write' } = await readJsonBody(call, body);
  const input = kinds[(permission === '' ? 'write' : permission) as keyof typeof kinds] as
    (typeof kinds)[keyof typeof kinds] | undefined;
  if (input === undefined || name === repository.owner) throw new Problem('git.invalid', 422, '[Permission]: In');
  await collaborators.set(repository.id, name, input);
  return noContent;
}

async function removeCollaborator(deps: Dependencies, call: Call): Promise<Answer> {
  const { collaborators, lookup } = deps.accessControl;
  const { name } = await getRequestedAccount(deps, call);
  // An account may always remove itself.
  const repository = await lookup.require(
    call.caller,
    getRepositoryName(call),
    name === getAccount(call) ? 'read' : 'admin',
  );
  await collaborators.remove(repository.id, name);
  return noContent;
}

async function readPermission(deps: Dependencies, call: Call): Promise<Answer> {
  const { context } = deps;
  const { access, lookup, signIn } = deps.accessControl;
  const { owners } = deps.storage;
  const { name } = await getRequestedAccount(deps, call);
  const repository = await lookup.require(
    call.caller,
    getRepositoryName(call),
    name === getAccount(call) ? 'read' : 'admin',
  );
  if ((await signIn.account(name)) === undefined) throw buildNotFoundProblem();
  const level = await getLevelOfAccount({ access, signIn }, name, repository);
  const permission = name === repository.owner ? 'owner' : level;
  const admin = (await context.accounts.find(name))?.role === 'admin';
  return ok({
    permission,
    role_name: permission,
    user: toUserJson(await owners.getForAccount(name), call.base, { admin }),
  });
}
