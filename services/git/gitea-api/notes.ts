import { GitError } from '../engine/git.ts';
import { readCommit } from '../repositories/commits.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { resolveRevision } from '../repositories/revisions.ts';
import { commitList } from './commits.ts';
import { ok, type Route } from './call.ts';
import { getRepositoryName } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'storage' | 'accessControl'>;

/** Builds the route of the note that `git notes` attached to a commit. */
export function noteRoutes(deps: Dependencies): readonly Route[] {
  const { git, manager, objects } = deps.storage;
  const { lookup } = deps.accessControl;
  const list = commitList(deps.storage);
  return [
    {
      method: 'GET',
      path: '/repos/:owner/:repo/git/notes/:sha',
      scope: 'repository',
      handle: async (call) => {
        const repository = await lookup.require(call.caller, getRepositoryName(call), 'read');
        const folder = manager.getFolder(repository);
        const revision = await resolveRevision(objects, folder, repository, call.params['sha']);
        const commit = revision && (await readCommit(git, folder, revision.commit));
        if (commit === undefined) throw buildNotFoundProblem();
        const note = await git
          .run(folder, ['notes', '--ref=refs/notes/commits', 'show', commit.id])
          .catch((error: unknown) => {
            if (error instanceof GitError) throw buildNotFoundProblem();
            throw error;
          });
        const [json] = await list(call, repository, [commit]);
        return ok({ message: note.stdout.toString(), commit: json });
      },
    },
  ];
}
