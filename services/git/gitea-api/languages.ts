import { findLanguage } from '../domain/languages.ts';
import { resolveRevision } from '../repositories/revisions.ts';
import { ok, type Route } from './call.ts';
import { getRepositoryName } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'storage' | 'accessControl'>;

/** Maximum number of cached results. */
const maxCachedResults = 500;

/** Builds the route that counts the bytes of each language on the default branch. */
export function languageRoutes({
  storage: { git, manager, objects },
  accessControl: { lookup },
}: Dependencies): readonly Route[] {
  const cache = new Map<string, Readonly<Record<string, number>>>();
  const count = async (folder: string, commit: string): Promise<Readonly<Record<string, number>>> => {
    const files: (readonly [id: string, language: string])[] = [];
    for (const line of (await git.run(folder, ['ls-tree', '-r', '-z', commit])).stdout.toString().split('\0')) {
      const [, id = '', path = ''] = /^100\d{3} blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      const language = path === '' ? undefined : findLanguage(path);
      if (language !== undefined) files.push([id, language]);
    }
    const ids = [...new Set(files.map(([id]) => id))];
    const check = ['cat-file', '--buffer', '--batch-check=%(objectsize)'];
    const lines = ids.length === 0 ? [] : await git.lines(folder, check, { input: `${ids.join('\n')}\n` });
    const bytes = new Map(ids.map((id, index) => [id, Number(lines[index]) || 0]));
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
        const repository = await lookup.require(call.caller, getRepositoryName(call), 'read');
        const folder = manager.getFolder(repository);
        const revision = await resolveRevision(objects, folder, repository, undefined);
        if (revision === undefined) return ok({});
        const sizes = cache.get(revision.commit) ?? (await count(folder, revision.commit));
        const [oldest] = cache.keys();
        if (cache.size >= maxCachedResults && oldest !== undefined) cache.delete(oldest);
        cache.set(revision.commit, sizes);
        return ok(sizes);
      },
    },
  ];
}
