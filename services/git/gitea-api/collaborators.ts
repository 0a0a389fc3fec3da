import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { unknown } from '../repositories/lookup.ts';
import { userOf } from '../wire/users.ts';
import { accountOf, bodyOf, noContent, ok, optional, type Call, type Route } from './call.ts';
import { listHeaders, pageOf, partOf } from './paging.ts';
import { levelOfAccount, named, type RestParts } from './api-dependencies.ts';

const body = z.object({ permission: optional(z.string()) });
const kinds = { read: 'read', write: 'write', admin: 'admin', owner: 'admin' } as const;

/** Who else may use a repository. */
export function collaboratorRoutes({
  access,
  collaborators,
  context,
  lookup,
  owners,
  signIn,
}: RestParts): readonly Route[] {
  const base = '/repos/:owner/:repo/collaborators';
  const adminOf = (call: Call) => lookup.need(call.visitor, named(call), 'admin');
  const askedOf = async (call: Call) => {
    const row = await owners.find(call.params['user'] ?? '');
    if (row?.kind !== 'account') throw unknown();
    return row;
  };
  return [
    {
      method: 'GET',
      path: base,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const repository = await lookup.need(call.visitor, named(call), 'read');
        const all = await collaborators.list(repository.id);
        const page = pageOf(call.query);
        const rows = await Promise.all(partOf(all, page).map(({ account }) => owners.ofAccount(account)));
        return ok(
          rows.map((row) => userOf(row, call.base)),
          listHeaders(call, page, all.length),
        );
      },
    },
    {
      method: 'GET',
      path: `${base}/:user`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const repository = await lookup.need(call.visitor, named(call), 'read');
        const { name } = await askedOf(call);
        if (!(await collaborators.list(repository.id)).some(({ account }) => account === name)) throw unknown();
        return noContent;
      },
    },
    {
      method: 'PUT',
      path: `${base}/:user`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const repository = await adminOf(call);
        const { name } = await askedOf(call);
        const { permission = 'write' } = await bodyOf(call, body);
        const given = kinds[(permission === '' ? 'write' : permission) as keyof typeof kinds] as
          (typeof kinds)[keyof typeof kinds] | undefined;
        if (given === undefined || name === repository.owner) throw new Problem('git.invalid', 422, '[Permission]: In');
        await collaborators.set(repository.id, name, given);
        return noContent;
      },
    },
    {
      method: 'DELETE',
      path: `${base}/:user`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { name } = await askedOf(call);
        // One may always leave.
        const repository = await lookup.need(call.visitor, named(call), name === accountOf(call) ? 'read' : 'admin');
        await collaborators.remove(repository.id, name);
        return noContent;
      },
    },
    {
      method: 'GET',
      path: `${base}/:user/permission`,
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { name } = await askedOf(call);
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
      },
    },
  ];
}
