import { resolveRevision } from '../repositories/revisions.ts';
import { ok, type Route } from './call.ts';
import { getRepositoryName } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'storage' | 'accessControl' | 'features'>;

/** Builds the route that counts the bytes of each language on the default branch. */
export function languageRoutes({
  storage: { manager, objects },
  accessControl: { lookup },
  features: { languageSizes },
}: Dependencies): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/repos/:owner/:repo/languages',
      scope: 'repository',
      handle: async (call) => {
        const repository = await lookup.require(call.caller, getRepositoryName(call), 'read');
        const folder = manager.getFolder(repository);
        const revision = await resolveRevision(objects, folder, repository, undefined);
        return ok(revision === undefined ? {} : await languageSizes.read(folder, revision.commit));
      },
    },
  ];
}
