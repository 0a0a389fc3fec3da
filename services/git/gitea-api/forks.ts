import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { repositoryNameProblem } from '../domain/names.ts';
import { unknown } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { OwnerRow } from '../store/tables.ts';
import { userOf } from '../wire/users.ts';
import { accountOf, bodyOf, noContent, ok, optional, type Call, type Route } from './call.ts';
import { listHeaders, pageOf, partOf } from './paging.ts';
import { named, shown, visibleOwner, type RestParts } from './api-dependencies.ts';

const forkBody = z.object({ organization: optional(z.string()), name: optional(z.string()) });

/** Forks and stars. */
export function forkRoutes(parts: RestParts): readonly Route[] {
  const { access, forks, lookup, owners, repositories } = parts;
  const readable = (call: Call) => lookup.need(call.visitor, named(call), 'read');
  const answer = async (call: Call, repository: Repository) =>
    shown(parts, call, repository, await access.level(call.visitor, repository));
  /** Those of these numbers that the caller may read. */
  const listed = async (call: Call, ids: readonly number[]) => {
    const found = await Promise.all(ids.map((id) => repositories.byId(id)));
    const levels = await Promise.all(
      found.map(async (each) => each !== undefined && (await access.may(call.visitor, each, 'read'))),
    );
    const all = found.flatMap((each, at) => (each !== undefined && levels[at] === true ? [each] : []));
    const page = pageOf(call.query);
    return ok(
      await Promise.all(partOf(all, page).map((each) => answer(call, each))),
      listHeaders(call, page, all.length),
    );
  };
  const owner = async (call: Call, name: string): Promise<OwnerRow> => {
    const row = await visibleOwner(parts, call.visitor, name);
    if (row === undefined) throw new Problem('git.invalid', 422, `user does not exist [name: ${name}]`);
    if (!(await access.administersOwner(call.visitor, row)))
      throw new Problem('git.forbidden', 403, `User is no owner of ${name}`);
    return row;
  };

  return [
    {
      method: 'GET',
      path: '/repos/:owner/:repo/forks',
      scope: 'repository',
      handle: async (call) => listed(call, await forks.of((await readable(call)).id)),
    },
    {
      method: 'POST',
      path: '/repos/:owner/:repo/forks',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const parent = await readable(call);
        const asked = await bodyOf(call, forkBody);
        const { organization = '' } = asked;
        const target = organization === '' ? await owners.ofAccount(accountOf(call)) : await owner(call, organization);
        const name = asked.name === undefined || asked.name === '' ? parent.name : asked.name;
        const wrong = repositoryNameProblem(name);
        if (wrong !== undefined) throw new Problem('git.invalid', 422, wrong);
        return { status: 202, json: await answer(call, await forks.create(parent, target, name)) };
      },
    },
    {
      method: 'GET',
      path: '/repos/:owner/:repo/stargazers',
      scope: 'repository',
      handle: async (call) => {
        const all = await forks.stargazers((await readable(call)).id);
        const page = pageOf(call.query);
        const rows = await Promise.all(partOf(all, page).map((name) => owners.ofAccount(name)));
        return ok(
          rows.map((row) => userOf(row, call.base)),
          listHeaders(call, page, all.length),
        );
      },
    },
    {
      method: 'GET',
      path: '/user/starred',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => listed(call, await forks.starredBy(accountOf(call))),
    },
    {
      method: 'GET',
      path: '/user/starred/:owner/:repo',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const { id } = await readable(call);
        if (!(await forks.starredBy(accountOf(call))).includes(id)) throw unknown();
        return noContent;
      },
    },
    {
      method: 'PUT',
      path: '/user/starred/:owner/:repo',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        await forks.star((await readable(call)).id, accountOf(call));
        return noContent;
      },
    },
    {
      method: 'DELETE',
      path: '/user/starred/:owner/:repo',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        await forks.unstar((await readable(call)).id, accountOf(call));
        return noContent;
      },
    },
  ];
}
