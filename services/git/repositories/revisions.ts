import { isObjectId } from '../domain/names.ts';
import type { Objects } from './objects.ts';
import type { Repository } from './repositories.ts';

/** Form in which a URL names a commit: branch, tag or ID. */
export interface RefView {
  readonly kind: 'branch' | 'tag' | 'commit';
  readonly name: string;
}

/** Commit with the name that it was requested by. */
export interface Revision extends RefView {
  readonly commit: string;
}

const branchPrefix = 'refs/heads/';
const tagPrefix = 'refs/tags/';

/**
 * Resolves a branch, a tag or a full or abbreviated object ID to a commit. Without a name, resolves the default branch.
 * For ambiguous names a full ID precedes a full reference name, then branches, then tags.
 */
export async function resolveRevision(
  objects: Objects,
  folder: string,
  repository: Pick<Repository, 'defaultBranch'>,
  name: string | undefined | null,
): Promise<Revision | undefined> {
  if (name === undefined || name === null || name === '')
    return resolveByKind('branch', objects, folder, repository.defaultBranch);
  const exact = isObjectId(name) ? await resolveByKind('commit', objects, folder, name) : undefined;
  const revision = exact ?? (name.startsWith('refs/') ? await findByFullName(objects, folder, name) : undefined);
  if (revision !== undefined) return revision;
  for (const kind of ['branch', 'tag'] as const) {
    const match = await resolveByKind(kind, objects, folder, name);
    if (match !== undefined) return match;
  }
  if (name !== 'HEAD') return resolveByKind('commit', objects, folder, name);
  const head = await objects.findCommit(folder, branchPrefix + repository.defaultBranch);
  return head === undefined ? undefined : { kind: 'commit', name, commit: head };
}

/** Resolves a name of a known kind: a branch, a tag or an object ID of at least 7 digits. */
export async function resolveByKind(
  kind: RefView['kind'],
  objects: Objects,
  folder: string,
  name: string,
): Promise<Revision | undefined> {
  const commit =
    kind === 'commit'
      ? await findById(objects, folder, name)
      : await objects.findCommit(folder, (kind === 'tag' ? tagPrefix : branchPrefix) + name);
  return commit === undefined ? undefined : { kind, name, commit };
}

async function findById(objects: Objects, folder: string, name: string): Promise<string | undefined> {
  if (!/^[0-9a-f]{7,40}$/.test(name)) return undefined;
  const info = await objects.info(folder, name);
  // Git may resolve the name as a reference instead of an ID.
  if (info?.id.startsWith(name) !== true) return undefined;
  return (await objects.info(folder, `${info.id}^{commit}`))?.id;
}

async function findByFullName(objects: Objects, folder: string, ref: string): Promise<Revision | undefined> {
  const commit = await objects.findCommit(folder, ref);
  if (commit === undefined) return undefined;
  const kind = ref.startsWith(branchPrefix) ? 'branch' : ref.startsWith(tagPrefix) ? 'tag' : 'commit';
  return { kind, name: ref.replace(/^refs\/(heads|tags)\//, ''), commit };
}
