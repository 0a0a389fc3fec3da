import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { unknown } from '../repositories/lookup.ts';
import { userOf } from '../wire/users.ts';
import {
  accountOf,
  bodyOf,
  noContent,
  ok,
  optional,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from './call.ts';
import { listHeaders, pageOf, partOf } from './paging.ts';
import { levelOfAccount, named, type RestParts } from './api-dependencies.ts';

const body = z.object({ permission: optional(z.string()) });
const kinds = { read: 'read', write: 'write', admin: 'admin', owner: 'admin' } as const;
const collaboratorsPath = '/repos/:owner/:repo/collaborators';

/** Who else may use a repository. */
export function collaboratorRoutes(deps: RestParts): readonly Route[] {
  return [
    signedInRoute('GET', collaboratorsPath, 'repository', (call) => listCollaborators(deps, call)),
    signedInRoute('GET', `${collaboratorsPath}/:user`, 'repository', (call) => checkCollaborator(deps, call)),
    signedInRoute('PUT', `${collaboratorsPath}/:user`, 'repository', (call) => setCollaborator(deps, call)),
    signedInRoute('DELETE', `${collaboratorsPath}/:user`, 'repository', (call) => removeCollaborator(deps, call)),
    signedInRoute('GET', `${collaboratorsPath}/:user/permission`, 'repository', (call) => readPermission(deps, call)),
  ];
}

function getAdministered({ lookup }: RestParts, call: Call) {
  return lookup.need(call.visitor, named(call), 'admin');
}

async function getRequestedAccount({ owners }: RestParts, call: Call) {
  const row = await owners.find(call.params['user'] ?? '');
  if (row?.kind !== 'account') throw unknown();
  return row;
}

async function listCollaborators({ collaborators, lookup, owners }: RestParts, call: Call): Promise<Answer> {
  const repository = await lookup.need(call.visitor, named(call), 'read');
  const all = await collaborators.list(repository.id);
  const page = pageOf(call.query);
  const rows = await Promise.all(partOf(all, page).map(({ account }) => owners.ofAccount(account)));
  return ok(
    rows.map((row) => userOf(row, call.base)),
    listHeaders(call, page, all.length),
  );
}

async function checkCollaborator(deps: RestParts, call: Call): Promise<Answer> {
  const { collaborators, lookup } = deps;
  const repository = await lookup.need(call.visitor, named(call), 'read');
  const { name } = await getRequestedAccount(deps, call);
  if (!(await collaborators.list(repository.id)).some(({ account }) => account === name)) throw unknown();
  return noContent;
}

async function setCollaborator(deps: RestParts, call: Call): Promise<Answer> {
  const { collaborators } = deps;
  const repository = await getAdministered(deps, call);
  const { name } = await getRequestedAccount(deps, call);
  const { permission = 'write' } = await bodyOf(call, body);
  const given = kinds[(permission === '' ? 'write' : permission) as keyof typeof kinds] as
    (typeof kinds)[keyof typeof kinds] | undefined;
  if (given === undefined || name === repository.owner) throw new Problem('git.invalid', 422, '[Permission]: In');
  await collaborators.set(repository.id, name, given);
  return noContent;
}

async function removeCollaborator(deps: RestParts, call: Call): Promise<Answer> {
  const { collaborators, lookup } = deps;
  const { name } = await getRequestedAccount(deps, call);
  // One may always leave.
  const repository = await lookup.need(call.visitor, named(call), name === accountOf(call) ? 'read' : 'admin');
  await collaborators.remove(repository.id, name);
  return noContent;
}

async function readPermission(deps: RestParts, call: Call): Promise<Answer> {
  const { access, context, lookup, owners, signIn } = deps;
  const { name } = await getRequestedAccount(deps, call);
  const repository = await lookup.need(call.visitor, named(call), name === accountOf(call) ? 'read' : 'admin');
  if ((await signIn.account(name)) === undefined) throw unknown();
  const level = await levelOfAccount({ access, signIn }, name, repository);
  const permission = name === repository.owner ? 'owner' : level;
  const admin = (await context.accounts.find(name))?.role === 'admin';
  return ok({
    permission,
    role_name: permission,
    user: userOf(await owners.ofAccount(name), call.base, { admin }),
  });
}
