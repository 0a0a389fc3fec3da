import { rm } from 'node:fs/promises';
import { Problem } from '../../contracts/problem.ts';
import { isNewBranchName, isReferenceName, treePath } from '../domain/names.ts';
import { authorship, type Author } from '../repositories/first-commit.ts';
import type { ObjectInfo } from '../repositories/objects.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolveAs } from '../repositories/revisions.ts';
import { noObject } from '../transfer/push-request.ts';
import { changeReference } from './change-reference.ts';
import type { RestParts } from './api-dependencies.ts';

/** What becomes of a file. */
export interface FileWork {
  readonly kind: 'create' | 'update' | 'upload' | 'delete' | 'rename';
  readonly path: string;
  /** Where it was before, for one that moves. */
  readonly from: string | undefined;
  /** What it was when who changes it saw it. */
  readonly sha: string | undefined;
  readonly bytes: Buffer;
}

export interface FileCommit {
  readonly account: string;
  readonly branch: string;
  /** The same branch, or a new one that begins at it. */
  readonly target: string;
  readonly author: Author;
  readonly committer: Author;
  readonly message: string;
  readonly dates: { author?: string; committer?: string };
}

/** Makes a commit that changes files, and answers its id. @throws Problem (404, 422, 423) in the peer's words */
export async function writeFiles(
  parts: RestParts,
  repository: Repository,
  { account, branch, target, author, committer, message, dates }: FileCommit,
  work: readonly FileWork[],
): Promise<string> {
  const { git, keeper, objects } = parts;
  const folder = keeper.folder(repository);
  if (repository.archived)
    throw new Problem('git.archived', 423, `repo ${repository.owner}/${repository.name} is archived`);
  const at = (name: string) => resolveAs('branch', objects, folder, name);
  const base = await at(branch);
  const isNew = target !== branch || base === undefined;
  if (!isReferenceName(`refs/heads/${branch}`) || (isNew && !isNewBranchName(target)))
    throw new Problem('git.invalid', 422, '[Branch]: GitRefName');
  if (base === undefined && !repository.empty)
    throw new Problem('git.unknown_branch', 404, `branch does not exist [name: ${branch}]`);
  if (target !== branch && (await at(target)) !== undefined) {
    throw new Problem('git.branch_taken', 422, `branch already exists [name: ${target}]`);
  }
  await parts.protections.checkCommit(repository.id, target, { account });
  const placed = new Set(work.flatMap(({ kind, path }) => (kind === 'delete' ? [] : [treePath(path)])));
  for (const path of placed) {
    const within = parentsOf(path ?? '').find((parent) => placed.has(parent));
    if (within !== undefined) throw placeTaken(within);
  }
  const lines: string[] = [];
  for (const each of work) lines.push(...(await changeOf(parts, folder, base?.commit, each)));
  // An index of its own, in the folder of git's home: two changes at once do not meet.
  const index = `${folder}/homeport-index-${parts.context.random.text(12)}`;
  const environment = { GIT_INDEX_FILE: index };
  let commit: string;
  try {
    if (base !== undefined) await git.run(folder, ['read-tree', base.commit], { environment, modest: true });
    await git.run(folder, ['update-index', '-z', '--index-info'], { environment, input: lines.join('') });
    const tree = (await git.run(folder, ['write-tree'], { environment })).stdout.toString().trim();
    const { stdout } = await git.run(
      folder,
      ['commit-tree', ...(base === undefined ? [] : ['-p', base.commit]), tree],
      {
        input: message.replace(/\n?$/, '\n'),
        environment: authorship(author, committer, dates),
      },
    );
    commit = stdout.toString().trim();
  } finally {
    await rm(index, { force: true });
  }
  const before = target === branch ? (base?.commit ?? noObject) : noObject;
  await changeReference(parts, repository, account, { ref: `refs/heads/${target}`, before, after: commit });
  return commit;
}

/** What git is to change in its index for an operation. @throws Problem (404, 422) in the peer's words */
async function changeOf(
  { git, objects }: Pick<RestParts, 'git' | 'objects'>,
  folder: string,
  base: string | undefined,
  { kind, path: asked, from: askedFrom, sha, bytes }: FileWork,
): Promise<readonly string[]> {
  const path = treePath(asked);
  const from = askedFrom === undefined || askedFrom === '' ? path : treePath(askedFrom);
  if (path === undefined || path === '' || from === undefined)
    throw new Problem('git.invalid', 422, `path contains a malformed path component [path: ${asked}]`);
  const at = async (name: string) => (base === undefined ? undefined : objects.info(folder, `${base}:${name}`));
  const there = await at(from);
  const isFile = there?.type === 'blob';
  if (kind !== 'delete') {
    await checkPlace(at, path, from, kind === 'create');
    if (base !== undefined && (await at(path)) === undefined) await checkSubmodules(git, folder, base, at, path);
  }
  if ((kind === 'update' || kind === 'delete' || kind === 'rename') && !isFile) {
    // As a client may put a file that is not there yet.
    if (kind !== 'update' || (sha !== undefined && sha !== ''))
      throw new Problem('git.unknown', 404, `repository file does not exist [path: ${from}]`);
  }
  if (isFile && kind !== 'create' && kind !== 'upload') {
    if (sha === undefined || sha === '')
      throw new Problem('git.invalid', 422, 'sha or commit_id must be provided when updating a file');
    if (sha !== there.id)
      throw new Problem('git.stale', 422, `sha does not match [given: ${sha}, expected: ${there.id}]`);
  }
  const gone = `0 ${noObject}\t${from}\0`;
  if (kind === 'delete') return [gone];
  const mode = isFile && base !== undefined ? await modeOf(git, folder, base, from) : '100644';
  if (kind === 'rename') return [gone, `${mode} ${there?.id ?? noObject}\t${path}\0`];
  const id = (await git.run(folder, ['hash-object', '-w', '--stdin'], { input: bytes })).stdout.toString().trim();
  return [...(from === path ? [] : [gone]), `${mode} ${id}\t${path}\0`];
}

/** Git's index would let what has the place go without a word. @throws Problem (422) in the peer's words */
async function checkPlace(
  at: (name: string) => Promise<Pick<ObjectInfo, 'type'> | undefined>,
  path: string,
  from: string,
  isNew: boolean,
): Promise<void> {
  const there = await at(path);
  if ((isNew || from !== path) && there !== undefined)
    throw new Problem('git.file_exists', 422, `repository file already exists [path: ${path}]`);
  if (there?.type === 'tree')
    throw new Problem('git.path_taken', 422, `a directory exists where you’re trying to create a file [path: ${path}]`);
  if (there !== undefined) return;
  const end = await endOfFolders(at, path);
  // What moves away from there leaves its place to a folder.
  if (end.isThere && end.place !== from) throw placeTaken(end.place);
}

/** Where the folders of a path end that are there: below what is none, nothing is, so that few have to be looked at. */
async function endOfFolders(
  at: (name: string) => Promise<Pick<ObjectInfo, 'type'> | undefined>,
  path: string,
): Promise<{ readonly place: string; readonly isThere: boolean }> {
  const places = [...parentsOf(path), path];
  let [first, last] = [0, places.length - 1];
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    if ((await at(places[middle] ?? ''))?.type === 'tree') first = middle + 1;
    else last = middle;
  }
  const place = places[first] ?? path;
  return { place, isThere: (await at(place)) !== undefined };
}

/**
 * A submodule names a commit of another repository, which is no object of this one.
 * @throws Problem `git.submodule` (422) where a file would take the place of one, or stand in it
 */
async function checkSubmodules(
  git: RestParts['git'],
  folder: string,
  base: string,
  at: (name: string) => Promise<Pick<ObjectInfo, 'type'> | undefined>,
  path: string,
): Promise<void> {
  const { place } = await endOfFolders(at, path);
  // Names are names, also such as begin with a colon.
  const environment = { GIT_LITERAL_PATHSPECS: '1' };
  const { stdout } = await git.run(folder, ['ls-tree', '-z', base, '--', place], { environment });
  if (!stdout.toString().startsWith('160000 ')) return;
  throw new Problem('git.submodule', 422, `a submodule exists where you’re trying to create a file [path: ${place}]`);
}

function parentsOf(path: string): readonly string[] {
  const names = path.split('/');
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join('/'));
}

function placeTaken(path: string): Problem {
  return new Problem(
    'git.path_taken',
    422,
    `a file exists where you’re trying to create a subdirectory [path: ${path}]`,
  );
}

/** A program stays one when its text changes. */
async function modeOf(git: RestParts['git'], folder: string, base: string, path: string): Promise<string> {
  const { stdout } = await git.run(folder, ['ls-tree', '-z', base, '--', path]);
  return /^(\d{6}) blob/.exec(stdout.toString())?.[1] ?? '100644';
}
