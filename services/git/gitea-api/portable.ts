import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Problem } from '../../contracts/problem.ts';
import { repositoryNameProblem } from '../domain/names.ts';
import type { Portable } from '../portable/portable.ts';
import { accountOf, created, needIdentity, type Route } from './call.ts';
import { fileName } from './content-disposition.ts';
import { named, shown, type RestParts } from './api-dependencies.ts';

/** A repository with all that belongs to it as one file. The peer has this on its command line alone. */
export function portableRoutes(parts: RestParts & { readonly portable: Portable }): readonly Route[] {
  const { access, context, lookup, owners, portable } = parts;
  return [
    {
      method: 'GET',
      path: '/repos/:owner/:repo/backup',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const repository = await lookup.need(call.visitor, named(call), 'admin');
        const { path, release } = await portable.save(repository);
        if (call.method !== 'HEAD') {
          const detail = `repository ${repository.owner}/${repository.name}`;
          context.accounts.record({ event: 'data_exported', detail });
        }
        const headers = {
          'Content-Type': 'application/x-tar',
          'Content-Length': (await stat(path)).size,
          'Content-Disposition': `attachment; ${fileName(`${repository.name}.tar`)}`,
        };
        if (call.method === 'HEAD') release();
        return {
          status: 200,
          headers,
          send: (response) => pipeline(createReadStream(path), response).finally(release),
        };
      },
    },
    {
      method: 'POST',
      path: '/repos/restore',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        // Such a file says who wrote what.
        if (needIdentity(call.visitor).role !== 'admin')
          throw new Problem('git.forbidden', 403, 'Only administrators restore repositories.');
        const name = call.query.get('name') ?? '';
        const wrong = name === '' ? undefined : repositoryNameProblem(name);
        if (wrong !== undefined) throw new Problem('git.invalid', 422, wrong);
        const asked = call.query.get('owner') ?? '';
        const owner = asked === '' ? await owners.ofAccount(accountOf(call)) : await owners.find(asked);
        if (owner === undefined) throw new Problem('git.invalid', 422, `user does not exist [name: ${asked}]`);
        const made = await portable.restore(call.request, { owner: owner.name, ownerKind: owner.kind, name });
        return created(await shown(parts, call, made, await access.level(call.visitor, made)));
      },
    },
  ];
}
