import { languageOf } from '../domain/languages.ts';
import { resolve } from '../repositories/revisions.ts';
import { ok, type Route } from './call.ts';
import { named, type RestParts } from './parts.ts';

/** As many commits are remembered. */
const mostKept = 500;

/** Which languages a repository is written in, by bytes of its default branch. */
export function languageRoutes({ git, keeper, lookup, objects }: RestParts): readonly Route[] {
  const kept = new Map<string, Readonly<Record<string, number>>>();
  const count = async (folder: string, commit: string): Promise<Readonly<Record<string, number>>> => {
    const { stdout } = await git.run(folder, ['ls-tree', '-r', '-l', '-z', commit]);
    const sizes = new Map<string, number>();
    for (const line of stdout.toString().split('\0')) {
      const [, size = '', path = ''] = /^100\d{3} blob [0-9a-f]+ +(\d+)\t(.*)$/s.exec(line) ?? [];
      const language = path === '' ? undefined : languageOf(path);
      if (language !== undefined) sizes.set(language, (sizes.get(language) ?? 0) + Number(size));
    }
    return Object.fromEntries([...sizes].toSorted(([, one], [, other]) => other - one));
  };
  return [
    {
      method: 'GET',
      path: '/repos/:owner/:repo/languages',
      scope: 'repository',
      handle: async (call) => {
        const repository = await lookup.need(call.visitor, named(call), 'read');
        const folder = keeper.folder(repository);
        const revision = await resolve(objects, folder, repository, repository.defaultBranch);
        if (revision === undefined) return ok({});
        const known = kept.get(revision.commit) ?? (await count(folder, revision.commit));
        const [oldest] = kept.keys();
        if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest);
        kept.set(revision.commit, known);
        return ok(known);
      },
    },
  ];
}
