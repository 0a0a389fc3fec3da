import { rm } from 'node:fs/promises';
import { Problem } from '../../contracts/problem.ts';
import { isNewBranchName, isReferenceName, normalizeTreePath } from '../domain/names.ts';
import { buildAuthorEnvironment, type Author } from '../repositories/first-commit.ts';
import type { ObjectInfo } from '../repositories/objects.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolveByKind } from '../repositories/revisions.ts';
import { zeroId } from '../domain/ref-change.ts';
import { changeReference } from './change-reference.ts';
import type { RouteDependencies } from '../components.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'pushControl'>;

/** Operation on one file. */
export interface FileOperation {
  readonly kind: 'create' | 'update' | 'upload' | 'delete' | 'rename';
  readonly path: string;
  /** Former path of a moved file. */
  readonly from: string | undefined;
  /** Object ID that the client last saw, to detect concurrent changes. */
  readonly sha: string | undefined;
  readonly bytes: Buffer;
}

export interface FileCommit {
  readonly account: string;
  readonly branch: string;
  /** Branch that the commit is added to: the same, or a new one that starts at it. */
  readonly target: string;
  readonly author: Author;
  readonly committer: Author;
  readonly message: string;
  readonly dates: { author?: string; committer?: string };
}

/** Commits changes of files and returns the ID of the commit. @throws Problem (404, 422, 423) in the form of Gitea */
export async function writeFiles(
  deps: Dependencies,
  repository: Repository,
  { account, branch, target, author, committer, message, dates }: FileCommit,
  work: readonly FileOperation[],
): Promise<string> {
  const { git, manager, objects } = deps.storage;
  const folder = manager.getFolder(repository);
  if (repository.archived)
    throw new Problem('git.archived', 423, `repo ${repository.owner}/${repository.name} is archived`);
  const findBranchHead = (name: string) => resolveByKind('branch', objects, folder, name);
  const base = await findBranchHead(branch);
  const isNew = target !== branch || base === undefined;
  if (!isReferenceName(`refs/heads/${branch}`) || (isNew && !isNewBranchName(target)))
    throw new Problem('git.invalid', 422, '[Branch]: GitRefName');
  if (base === undefined && !repository.empty)
    throw new Problem('git.unknown_branch', 404, `branch does not exist [name: ${branch}]`);
  if (target !== branch && (await findBranchHead(target)) !== undefined) {
    throw new Problem('git.branch_taken', 422, `branch already exists [name: ${target}]`);
  }
  await deps.pushControl.protections.checkCommit(repository.id, target, { account });
  const writtenPaths = new Set(work.flatMap(({ kind, path }) => (kind === 'delete' ? [] : [normalizeTreePath(path)])));
  for (const path of writtenPaths) {
    const blockingParent = listParents(path ?? '').find((parent) => writtenPaths.has(parent));
    if (blockingParent !== undefined) throw pathTaken(blockingParent);
  }
  const lines: string[] = [];
  for (const each of work) lines.push(...(await buildIndexLines(deps.storage, folder, base?.commit, each)));
  // A separate index, so that concurrent changes do not collide.
  const index = `${folder}/homeport-index-${deps.context.random.text(12)}`;
  const environment = { GIT_INDEX_FILE: index };
  let commit: string;
  try {
    if (base !== undefined) await git.run(folder, ['read-tree', base.commit], { environment, limitedMemory: true });
    await git.run(folder, ['update-index', '-z', '--index-info'], { environment, input: lines.join('') });
    const tree = (await git.run(folder, ['write-tree'], { environment })).stdout.toString().trim();
    const { stdout } = await git.run(
      folder,
      ['commit-tree', ...(base === undefined ? [] : ['-p', base.commit]), tree],
      {
        input: message.replace(/\n?$/, '\n'),
        environment: buildAuthorEnvironment(author, committer, dates),
      },
    );
    commit = stdout.toString().trim();
  } finally {
    await rm(index, { force: true });
  }
  const before = target === branch ? (base?.commit ?? zeroId) : zeroId;
  await changeReference(deps, repository, account, { ref: `refs/heads/${target}`, before, after: commit });
  return commit;
}

/** Builds the index lines of an operation. @throws Problem (404, 422) in the form of Gitea */
async function buildIndexLines(
  { git, objects }: Pick<RepositoryStorage, 'git' | 'objects'>,
  folder: string,
  base: string | undefined,
  { kind, path: input, from: requestedFrom, sha, bytes }: FileOperation,
): Promise<readonly string[]> {
  const path = normalizeTreePath(input);
  const from = requestedFrom === undefined || requestedFrom === '' ? path : normalizeTreePath(requestedFrom);
  if (path === undefined || path === '' || from === undefined)
    throw new Problem('git.invalid', 422, `path contains a malformed path component [path: ${input}]`);
  const findObject = async (name: string) => (base === undefined ? undefined : objects.info(folder, `${base}:${name}`));
  const current = await findObject(from);
  const isFile = current?.type === 'blob';
  if (kind !== 'delete') {
    await checkPath(findObject, path, from, kind === 'create');
    if (base !== undefined && (await findObject(path)) === undefined)
      await checkSubmodules(git, folder, base, findObject, path);
  }
  if ((kind === 'update' || kind === 'delete' || kind === 'rename') && !isFile) {
    // An update without a hash may create the file.
    if (kind !== 'update' || (sha !== undefined && sha !== ''))
      throw new Problem('git.unknown', 404, `repository file does not exist [path: ${from}]`);
  }
  if (isFile && kind !== 'create' && kind !== 'upload') {
    if (sha === undefined || sha === '')
      throw new Problem('git.invalid', 422, 'sha or commit_id must be provided when updating a file');
    if (sha !== current.id)
      throw new Problem('git.stale', 422, `sha does not match [given: ${sha}, expected: ${current.id}]`);
  }
  const removal = `0 ${zeroId}\t${from}\0`;
  if (kind === 'delete') return [removal];
  const mode = isFile && base !== undefined ? await getFileMode(git, folder, base, from) : '100644';
  if (kind === 'rename') return [removal, `${mode} ${current?.id ?? zeroId}\t${path}\0`];
  const id = (await git.run(folder, ['hash-object', '-w', '--stdin'], { input: bytes })).stdout.toString().trim();
  return [...(from === path ? [] : [removal]), `${mode} ${id}\t${path}\0`];
}

/** Refuses to replace another file, which git's index would do silently. @throws Problem (422) in the form of Gitea */
async function checkPath(
  findObject: (name: string) => Promise<Pick<ObjectInfo, 'type'> | undefined>,
  path: string,
  from: string,
  isNew: boolean,
): Promise<void> {
  const current = await findObject(path);
  if ((isNew || from !== path) && current !== undefined)
    throw new Problem('git.file_exists', 422, `repository file already exists [path: ${path}]`);
  if (current?.type === 'tree')
    throw new Problem('git.path_taken', 422, `a directory exists where you’re trying to create a file [path: ${path}]`);
  if (current !== undefined) return;
  const end = await findFirstMissing(findObject, path);
  // A file that moves away may be replaced by a folder.
  if (end.isThere && end.firstMissing !== from) throw pathTaken(end.firstMissing);
}

/** Finds the first part of a path that is not a folder, by binary search because nothing exists below it. */
async function findFirstMissing(
  findObject: (name: string) => Promise<Pick<ObjectInfo, 'type'> | undefined>,
  path: string,
): Promise<{ readonly firstMissing: string; readonly isThere: boolean }> {
  const candidates = [...listParents(path), path];
  let [first, last] = [0, candidates.length - 1];
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    if ((await findObject(candidates[middle] ?? ''))?.type === 'tree') first = middle + 1;
    else last = middle;
  }
  const firstMissing = candidates[first] ?? path;
  return { firstMissing, isThere: (await findObject(firstMissing)) !== undefined };
}

/**
 * Looks for a submodule, which refers to a commit of another repository and is not an object of this one.
 *
 * @throws Problem `git.submodule` (422) when a file would replace one or be inside of it
 */
async function checkSubmodules(
  git: RepositoryStorage['git'],
  folder: string,
  base: string,
  findObject: (name: string) => Promise<Pick<ObjectInfo, 'type'> | undefined>,
  path: string,
): Promise<void> {
  const { firstMissing } = await findFirstMissing(findObject, path);
  // Paths are taken literally, also those that begin with a colon.
  const environment = { GIT_LITERAL_PATHSPECS: '1' };
  const { stdout } = await git.run(folder, ['ls-tree', '-z', base, '--', firstMissing], { environment });
  if (!stdout.toString().startsWith('160000 ')) return;
  throw new Problem(
    'git.submodule',
    422,
    `a submodule exists where you’re trying to create a file [path: ${firstMissing}]`,
  );
}

function listParents(path: string): readonly string[] {
  const names = path.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}

function pathTaken(path: string): Problem {
  return new Problem(
    'git.path_taken',
    422,
    `a file exists where you’re trying to create a subdirectory [path: ${path}]`,
  );
}

/** Returns the file mode, so that an executable file stays executable. */
async function getFileMode(git: RepositoryStorage['git'], folder: string, base: string, path: string): Promise<string> {
  const { stdout } = await git.run(folder, ['ls-tree', '-z', base, '--', path]);
  return /^(\d{6}) blob/.exec(stdout.toString())?.[1] ?? '100644';
}
