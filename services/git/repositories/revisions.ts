import { isObjectId, isReferenceName } from '../domain/names.ts';
import type { RefView } from '../wire/contents.ts';
import type { Objects } from './objects.ts';
import type { Repository } from './repositories.ts';

/** A commit, and the name it was asked by. */
export interface Revision extends RefView {
  readonly commit: string;
}

/** The commit behind a branch, a tag or an id, also a shortened one; without a name the default branch's. */
export async function resolve(
  objects: Objects,
  folder: string,
  repository: Pick<Repository, 'defaultBranch'>,
  asked: string | undefined | null,
): Promise<Revision | undefined> {
  const name = asked === undefined || asked === null || asked === '' ? repository.defaultBranch : asked;
  const short = name.replace(/^refs\/(heads|tags)\//, '');
  if (!isReferenceName(name) && name !== 'HEAD') return undefined;
  const places: readonly (readonly [RefView['kind'], string])[] = [
    ...(name.startsWith('refs/tags/') ? [] : [['branch', `refs/heads/${short}`] as const]),
    ...(name.startsWith('refs/heads/') ? [] : [['tag', `refs/tags/${short}`] as const]),
    ...(name.startsWith('refs/') || name === 'HEAD' ? [['commit', name] as const] : []),
    ...(/^[0-9a-f]{7,40}$/.test(name) ? [['commit', name] as const] : []),
  ];
  for (const [kind, place] of places) {
    const info = await objects.info(folder, `${place}^{commit}`);
    if (info?.type === 'commit')
      return { kind, name: kind === 'commit' && isObjectId(name) ? name : short, commit: info.id };
  }
  return undefined;
}
