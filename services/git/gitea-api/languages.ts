import { languageOf } from '../domain/languages.ts';
import { resolve } from '../repositories/revisions.ts';
import { ok, type Route } from './call.ts';
import { named, type RestParts } from './api-dependencies.ts';

/** As many commits are remembered. */
const mostKept = 500;

/** Which languages a repository is written in, by bytes of its default branch. */
export function languageRoutes({ git, keeper, lookup, objects }: RestParts): readonly Route[] {
  const kept = new Map<string, Readonly<Record<string, number>>>();
  const count = async (folder: string, commit: string): Promise<Readonly<Record<string, number>>> => {
    const files: (readonly [id: string, language: string])[] = [];
    for (const line of (await git.run(folder, ['ls-tree', '-r', '-z', commit])).stdout.toString().split('\0')) {
      const [, id = '', path = ''] = /^100\d{3} blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      const language = path === '' ? undefined : languageOf(path);
      if (language !== undefined) files.push([id, language]);
    }
    const ids = [...new Set(files.map(([id]) => id))];
    const check = ['cat-file', '--buffer', '--batch-check=%(objectsize)'];
    const found = ids.length === 0 ? [] : await git.lines(folder, check, { input: `${ids.join('\n')}\n` });
    const bytes = new Map(ids.map((id, at) => [id, Number(found[at]) || 0]));
    const sizes = new Map<string, number>();
    for (const [id, language] of files) sizes.set(language, (sizes.get(language) ?? 0) + (bytes.get(id) ?? 0));
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
        const revision = await resolve(objects, folder, repository, undefined);
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
