import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Problem } from '../../contracts/problem.ts';
import { validateRepositoryName } from '../domain/names.ts';
import { getAccount, created, requireIdentity, type Route } from './call.ts';
import { formatFileName } from './content-disposition.ts';
import { getRepositoryName, toRepositoryView } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'features'>;

/** Builds the routes that export and import a repository as one file. Gitea has this only on its command line. */
export function portableRoutes(deps: Dependencies): readonly Route[] {
  const { context } = deps;
  const { access, lookup } = deps.accessControl;
  const { owners } = deps.storage;
  const { portable } = deps.features;
  return [
    {
      method: 'GET',
      path: '/repos/:owner/:repo/backup',
      scope: 'repository',
      signedIn: true,
      handle: async (call) => {
        const repository = await lookup.require(call.caller, getRepositoryName(call), 'admin');
        const { path, release } = await portable.save(repository);
        if (call.method !== 'HEAD') {
          const detail = `repository ${repository.owner}/${repository.name}`;
          context.accounts.record({ event: 'data_exported', detail });
        }
        const headers = {
          'Content-Type': 'application/x-tar',
          'Content-Length': (await stat(path)).size,
          'Content-Disposition': `attachment; ${formatFileName(`${repository.name}.tar`)}`,
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
        // The file decides which accounts are named as authors.
        if (requireIdentity(call.caller).role !== 'admin')
          throw new Problem('git.forbidden', 403, 'Only administrators can restore repositories.');
        const name = call.query.get('name') ?? '';
        const nameProblem = name === '' ? undefined : validateRepositoryName(name);
        if (nameProblem !== undefined) throw new Problem('git.invalid', 422, nameProblem);
        const input = call.query.get('owner') ?? '';
        const owner = input === '' ? await owners.getForAccount(getAccount(call)) : await owners.find(input);
        if (owner === undefined) throw new Problem('git.invalid', 422, `user does not exist [name: ${input}]`);
        const restored = await portable.restore(call.request, { owner: owner.name, ownerKind: owner.kind, name });
        return created(await toRepositoryView(deps, call, restored, await access.getLevel(call.caller, restored)));
      },
    },
  ];
}
