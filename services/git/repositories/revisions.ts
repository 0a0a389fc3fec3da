import { isObjectId } from '../domain/names.ts';
import type { RefView } from '../wire/contents.ts';
import type { Objects } from './objects.ts';
import type { Repository } from './repositories.ts';

/** Commit with the name that it was requested by. */
export interface Revision extends RefView {
  readonly commit: string;
}

const heads = 'refs/heads/';
const tags = 'refs/tags/';

/**
 * Resolves a branch, a tag or a full or abbreviated object ID to a commit. Without a name, resolves the default branch.
 * For ambiguous names a full ID precedes a full reference name, then branches, then tags.
 */
export async function resolve(
  objects: Objects,
  folder: string,
  repository: Pick<Repository, 'defaultBranch'>,
  asked: string | undefined | null,
): Promise<Revision | undefined> {
  if (asked === undefined || asked === null || asked === '')
    return resolveAs('branch', objects, folder, repository.defaultBranch);
  const whole = isObjectId(asked) ? await resolveAs('commit', objects, folder, asked) : undefined;
  const found = whole ?? (asked.startsWith('refs/') ? await byWholeName(objects, folder, asked) : undefined);
  if (found !== undefined) return found;
  for (const kind of ['branch', 'tag'] as const) {
    const named = await resolveAs(kind, objects, folder, asked);
    if (named !== undefined) return named;
  }
  if (asked !== 'HEAD') return resolveAs('commit', objects, folder, asked);
  const head = await objects.commitOf(folder, heads + repository.defaultBranch);
  return head === undefined ? undefined : { kind: 'commit', name: asked, commit: head };
}

/** Resolves a name of a known kind: a branch, a tag or an object ID of at least 7 digits. */
export async function resolveAs(
  kind: RefView['kind'],
  objects: Objects,
  folder: string,
  name: string,
): Promise<Revision | undefined> {
  const commit =
    kind === 'commit'
      ? await byId(objects, folder, name)
      : await objects.commitOf(folder, (kind === 'tag' ? tags : heads) + name);
  return commit === undefined ? undefined : { kind, name, commit };
}

async function byId(objects: Objects, folder: string, name: string): Promise<string | undefined> {
  if (!/^[0-9a-f]{7,40}$/.test(name)) return undefined;
  const info = await objects.info(folder, name);
  // Git may resolve the name as a reference instead of an ID.
  if (info?.id.startsWith(name) !== true) return undefined;
  return (await objects.info(folder, `${info.id}^{commit}`))?.id;
}

async function byWholeName(objects: Objects, folder: string, ref: string): Promise<Revision | undefined> {
  const commit = await objects.commitOf(folder, ref);
  if (commit === undefined) return undefined;
  const kind = ref.startsWith(heads) ? 'branch' : ref.startsWith(tags) ? 'tag' : 'commit';
  return { kind, name: ref.replace(/^refs\/(heads|tags)\//, ''), commit };
}
