import * as m from '#messages/git-problems';
import { lstat, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import { getPathExamples } from '../../contracts/path-examples.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { GitError, type Git, type RunOptions } from '../engine/git.ts';
import { buildAuthorEnvironment, type Author } from './first-commit.ts';
import type { RepositoryManager, NewRepository } from './repository-manager.ts';
import { findUnstorableInSource } from './reference-names.ts';
import { readReferences, readSize } from './references.ts';
import type { Repository } from './repositories.ts';

export interface PublishDependencies {
  readonly context: Pick<Context, 'files'>;
  readonly git: Git;
  readonly manager: RepositoryManager;
}

const timeoutMs = 10 * 60_000;
const branchPrefix = 'refs/heads/';

/**
 * Creates a repository from a folder: from its files as a first commit, or from the branches and tags of its git
 * repository. Only the folder's `.git` is changed, and no program that the folder configures is run.
 * @throws Problem `git.bad_folder` (422), `git.name_taken` (409)
 */
export async function publishFolder(
  { context, git, manager }: PublishDependencies,
  requestedPath: string,
  options: NewRepository,
  author: Author,
): Promise<{ readonly repository: Repository; readonly files: number; readonly folder: string }> {
  const folder = await resolveFolder(requestedPath, dirname(context.files));
  const gitFolder = join(folder, '.git');
  const hasRepository = await containsRepository(folder);
  if (!hasRepository) await initRepository(git, folder, options.defaultBranch, author);
  try {
    if (hasRepository) await rejectPartialClone(git, gitFolder);
    const current = hasRepository
      ? await readCurrentBranch(git, gitFolder, options.defaultBranch)
      : options.defaultBranch;
    const repository = await manager.create({ ...options, defaultBranch: current }, async (path) => {
      const refs = ['heads', 'tags'].map((kind) => `+refs/${kind}/*:refs/${kind}/*`);
      const args = ['fetch', '--quiet', '--no-auto-gc', '--no-write-fetch-head', '--', gitFolder, ...refs];
      const runOptions = { ...buildRunOptions(), environment: { GIT_ALLOW_PROTOCOL: 'file' } };
      const unstorable = await findUnstorableInSource(git, path, gitFolder, runOptions);
      if (unstorable !== undefined) throw buildFolderProblem(unstorable);
      await git.run(path, args, runOptions);
      const branches = (await readReferences(git, path, branchPrefix)).map(({ ref }) => ref.slice(branchPrefix.length));
      // The checked-out branch may have no commit, or HEAD may be detached.
      const defaultBranch = branches.includes(current) ? current : (branches[0] ?? current);
      await git.run(path, ['symbolic-ref', 'HEAD', branchPrefix + defaultBranch]);
      return {
        branch_count: branches.length,
        default_branch: defaultBranch,
        empty: Number(branches.length === 0),
        size: await readSize(git, path),
      };
    });
    const { stdout } = await git.run(
      manager.getFolder(repository),
      ['ls-tree', '-r', '-z', '--name-only', branchPrefix + repository.defaultBranch],
      { allowedExitCodes: [128] },
    );
    return { repository, folder, files: stdout.toString().split('\0').length - 1 };
  } catch (error) {
    if (!hasRepository) await removeTree(gitFolder);
    if (error instanceof GitError)
      throw buildFolderProblem(m.folderUnreadable({ reason: error.stderr.split('\n', 1)[0] ?? '' }), error);
    throw error;
  }
}

/** Sets this repository as a remote of the folder, so that `git push` works. Returns the name of the remote. */
export async function setRemote(git: Git, folder: string, address: string): Promise<string> {
  const config = ['config', '--file', join(folder, '.git', 'config')];
  const { code, stdout } = await git.run(undefined, [...config, '--get', 'remote.origin.url'], {
    allowedExitCodes: [1],
  });
  const name = code === 1 || stdout.toString().trim() === address ? 'origin' : 'homeport';
  await git.run(undefined, [...config, '--replace-all', `remote.${name}.url`, address]);
  await git.run(undefined, [
    ...config,
    '--replace-all',
    `remote.${name}.fetch`,
    `+refs/heads/*:refs/remotes/${name}/*`,
  ]);
  return name;
}

/**
 * Resolves links and checks that the folder may be published.
 * @throws Problem `git.bad_folder` (422)
 */
async function resolveFolder(requestedPath: string, data: string): Promise<string> {
  if (!isAbsolute(requestedPath) || requestedPath.includes('\0'))
    throw buildFolderProblem(m.folderNotAbsolute({ example: getPathExamples(currentPlatform).project }));
  const folder = await realpath(requestedPath).catch((cause: unknown) => {
    throw buildFolderProblem(m.folderNotFound(), cause);
  });
  if (!(await stat(folder)).isDirectory()) throw buildFolderProblem(m.folderIsFile());
  const home = await realpath(homedir()).catch(() => homedir());
  if (folder === dirname(folder) || contains(folder, home)) throw buildFolderProblem(m.folderTooBroad());
  const dataFolder = await realpath(data);
  if (contains(folder, dataFolder) || contains(dataFolder, folder)) throw buildFolderProblem(m.folderIsHomeports());
  return folder;
}

async function containsRepository(folder: string): Promise<boolean> {
  const gitFolder = await lstat(join(folder, '.git')).catch(() => undefined);
  if (gitFolder?.isDirectory() === true) return true;
  if (gitFolder !== undefined) throw buildFolderProblem(m.folderIsWorkTree());
  for (let parent = dirname(folder); parent !== dirname(parent); parent = dirname(parent)) {
    if ((await lstat(join(parent, '.git')).catch(() => undefined)) !== undefined)
      throw buildFolderProblem(m.folderInRepository({ parent }));
  }
  return false;
}

/**
 * Rejects partial clones: git would fetch the missing objects with programs that the repository configures.
 * @throws Problem `git.bad_folder` (422)
 */
async function rejectPartialClone(git: Git, gitFolder: string): Promise<void> {
  const names = String.raw`^(extensions\.partialclone|remote\..*\.(promisor|partialclonefilter))$`;
  const { code } = await git.run(gitFolder, ['config', '--includes', '--get-regexp', names], { allowedExitCodes: [1] });
  if (code === 0) throw buildFolderProblem(m.folderIsPartialClone());
}

/** Creates a repository with one commit of all files that `.gitignore` does not exclude. */
async function initRepository(git: Git, folder: string, branch: string, author: Author): Promise<void> {
  const gitFolder = join(folder, '.git');
  await git.run(undefined, ['init', '--quiet', '--template=', `--initial-branch=${branch}`, '--', folder]);
  try {
    // The working directory of git must be the folder itself, not `.git`.
    const options = { ...buildRunOptions(), environment: { GIT_DIR: gitFolder, GIT_WORK_TREE: folder } };
    await git.run(folder, ['add', '--all', '--', '.'], options);
    const tree = (await git.run(folder, ['write-tree'], options)).stdout.toString().trim();
    const { stdout } = await git.run(gitFolder, ['commit-tree', tree], {
      input: 'First commit\n',
      environment: buildAuthorEnvironment(author),
    });
    await git.run(gitFolder, ['update-ref', branchPrefix + branch, stdout.toString().trim()]);
  } catch (error) {
    await removeTree(gitFolder);
    if (error instanceof GitError)
      throw buildFolderProblem(m.folderNotCommitted({ reason: error.stderr.split('\n', 1)[0] ?? '' }), error);
    throw error;
  }
}

/** Returns the checked-out branch. */
async function readCurrentBranch(git: Git, gitFolder: string, fallback: string): Promise<string> {
  const { code, stdout } = await git.run(gitFolder, ['symbolic-ref', '--short', 'HEAD'], {
    allowedExitCodes: [1, 128],
  });
  const name = stdout.toString().trim();
  return code === 0 && name !== '' ? name : fallback;
}

/** Builds options that disable the programs which the folder's configuration names. */
function buildRunOptions(): RunOptions {
  return {
    longRunning: true,
    signal: AbortSignal.timeout(timeoutMs),
    config: ['core.fsmonitor=false', 'core.untrackedCache=false'],
  };
}

function contains(outer: string, inner: string): boolean {
  const relativePath = relative(outer, inner);
  return (
    relativePath === '' || (relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath))
  );
}

function buildFolderProblem(detail: string, cause?: unknown): Problem {
  return new Problem('git.bad_folder', 422, detail, { fields: { folder: detail }, cause });
}
