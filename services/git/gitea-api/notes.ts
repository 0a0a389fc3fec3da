import { GitFailed } from '../engine/git.ts';
import { readCommit } from '../repositories/commits.ts';
import { unknown } from '../repositories/lookup.ts';
import { resolve } from '../repositories/revisions.ts';
import { commitList } from './commits.ts';
import { ok, type Route } from './call.ts';
import { named, type RestParts } from './api-dependencies.ts';

/** What was noted of a commit with `git notes`. */
export function noteRoutes(parts: RestParts): readonly Route[] {
  const { git, keeper, lookup, objects } = parts;
  const list = commitList(parts);
  return [
    {
      method: 'GET',
      path: '/repos/:owner/:repo/git/notes/:sha',
      scope: 'repository',
      handle: async (call) => {
        const repository = await lookup.need(call.visitor, named(call), 'read');
        const folder = keeper.folder(repository);
        const revision = await resolve(objects, folder, repository, call.params['sha']);
        const commit = revision && (await readCommit(git, folder, revision.commit));
        if (commit === undefined) throw unknown();
        const note = await git
          .run(folder, ['notes', '--ref=refs/notes/commits', 'show', commit.id])
          .catch((error: unknown) => {
            if (error instanceof GitFailed) throw unknown();
            throw error;
          });
        const [json] = await list(call, repository, [commit]);
        return ok({ message: note.stdout.toString(), commit: json });
      },
    },
  ];
}
