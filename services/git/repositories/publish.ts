import { lstat, realpath, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { GitError, type Git, type RunOptions } from '../engine/git.ts';
import { authorship, type Author } from './first-commit.ts';
import type { RepositoryManager, NewRepository } from './repository-manager.ts';
import { readReferences, sizeOf } from './references.ts';
import type { Repository } from './repositories.ts';

export interface PublishDependencies {
  readonly context: Pick<Context, 'files'>;
  readonly git: Git;
  readonly manager: RepositoryManager;
}

const longestMs = 10 * 60_000;
const heads = 'refs/heads/';

/**
 * Creates a repository from a folder: from its files as a first commit, or from the branches and tags of its git
 * repository. Only the folder's `.git` is changed, and no program that the folder configures is run.
 * @throws Problem `git.bad_folder` (422), `git.name_taken` (409)
 */
export async function publishFolder(
  { context, git, manager }: PublishDependencies,
  asked: string,
  wanted: NewRepository,
  author: Author,
): Promise<{ readonly repository: Repository; readonly files: number; readonly folder: string }> {
  const folder = await folderAt(asked, dirname(context.files));
  const inside = join(folder, '.git');
  const isKnown = await holdsRepository(folder);
  if (!isKnown) await makeRepository(git, folder, wanted.defaultBranch, author);
  try {
    if (isKnown) await needWhole(git, inside);
    const current = isKnown ? await branchOf(git, inside, wanted.defaultBranch) : wanted.defaultBranch;
    const repository = await manager.create({ ...wanted, defaultBranch: current }, async (path) => {
      const refs = ['heads', 'tags'].map((kind) => `+refs/${kind}/*:refs/${kind}/*`);
      const args = ['fetch', '--quiet', '--no-auto-gc', '--no-write-fetch-head', '--', inside, ...refs];
      await git.run(path, args, { ...limits(), environment: { GIT_ALLOW_PROTOCOL: 'file' } });
      const branches = (await readReferences(git, path, heads)).map(({ ref }) => ref.slice(heads.length));
      // The checked-out branch may have no commit, or HEAD may be detached.
      const defaultBranch = branches.includes(current) ? current : (branches[0] ?? current);
      await git.run(path, ['symbolic-ref', 'HEAD', heads + defaultBranch]);
      return {
        branch_count: branches.length,
        default_branch: defaultBranch,
        empty: Number(branches.length === 0),
        size: await sizeOf(git, path),
      };
    });
    const { stdout } = await git.run(
      manager.folder(repository),
      ['ls-tree', '-r', '-z', '--name-only', heads + repository.defaultBranch],
      { codes: [128] },
    );
    return { repository, folder, files: stdout.toString().split('\0').length - 1 };
  } catch (error) {
    if (!isKnown) await rm(inside, { recursive: true, force: true });
    if (error instanceof GitError)
      throw bad(`Git could not read what is in it: ${error.words.split('\n', 1)[0] ?? ''}`, error);
    throw error;
  }
}

/** Sets this repository as a remote of the folder, so that `git push` works. Returns the name of the remote. */
export async function setRemote(git: Git, folder: string, address: string): Promise<string> {
  const config = ['config', '--file', join(folder, '.git', 'config')];
  const { code, stdout } = await git.run(undefined, [...config, '--get', 'remote.origin.url'], { codes: [1] });
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
async function folderAt(asked: string, data: string): Promise<string> {
  if (!isAbsolute(asked) || asked.includes('\0'))
    throw bad('Name it from its very beginning, such as /home/ada/project.');
  const folder = await realpath(asked).catch((cause: unknown) => {
    throw bad('There is no such folder.', cause);
  });
  if (!(await stat(folder)).isDirectory()) throw bad('This is no folder.');
  const home = await realpath(homedir()).catch(() => homedir());
  if (folder === dirname(folder) || holds(folder, home))
    throw bad('This is more than one project. Choose a folder within it.');
  const own = await realpath(data);
  if (holds(folder, own) || holds(own, folder)) throw bad('Homeport keeps its own data there.');
  return folder;
}

async function holdsRepository(folder: string): Promise<boolean> {
  const inside = await lstat(join(folder, '.git')).catch(() => undefined);
  if (inside?.isDirectory() === true) return true;
  if (inside !== undefined) throw bad('It is a second work tree of another repository.');
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above)) {
    if ((await lstat(join(above, '.git')).catch(() => undefined)) !== undefined)
      throw bad(`It belongs to the repository in ${above}.`);
  }
  return false;
}

/**
 * Rejects partial clones: git would fetch the missing objects with programs that the repository configures.
 * @throws Problem `git.bad_folder` (422)
 */
async function needWhole(git: Git, inside: string): Promise<void> {
  const names = String.raw`^(extensions\.partialclone|remote\..*\.(promisor|partialclonefilter))$`;
  const { code } = await git.run(inside, ['config', '--includes', '--get-regexp', names], { codes: [1] });
  if (code === 0) throw bad('It is a partial clone, which lacks some of its objects. Clone it as a whole first.');
}

/** Creates a repository with one commit of all files that `.gitignore` does not exclude. */
async function makeRepository(git: Git, folder: string, branch: string, author: Author): Promise<void> {
  const inside = join(folder, '.git');
  await git.run(undefined, ['init', '--quiet', '--template=', `--initial-branch=${branch}`, '--', folder]);
  try {
    // The working directory of git must be the folder itself, not `.git`.
    const options = { ...limits(), environment: { GIT_DIR: inside, GIT_WORK_TREE: folder } };
    await git.run(folder, ['add', '--all', '--', '.'], options);
    const tree = (await git.run(folder, ['write-tree'], options)).stdout.toString().trim();
    const { stdout } = await git.run(inside, ['commit-tree', tree], {
      input: 'First commit\n',
      environment: authorship(author),
    });
    await git.run(inside, ['update-ref', heads + branch, stdout.toString().trim()]);
  } catch (error) {
    await rm(inside, { recursive: true, force: true });
    if (error instanceof GitError)
      throw bad(`Git could not take its files in: ${error.words.split('\n', 1)[0] ?? ''}`, error);
    throw error;
  }
}

/** Returns the checked-out branch. */
async function branchOf(git: Git, inside: string, otherwise: string): Promise<string> {
  const { code, stdout } = await git.run(inside, ['symbolic-ref', '--short', 'HEAD'], { codes: [1, 128] });
  const name = stdout.toString().trim();
  return code === 0 && name !== '' ? name : otherwise;
}

/** Builds options that disable the programs which the folder's configuration names. */
function limits(): RunOptions {
  return {
    long: true,
    signal: AbortSignal.timeout(longestMs),
    config: ['core.fsmonitor=false', 'core.untrackedCache=false'],
  };
}

function holds(outer: string, inner: string): boolean {
  const between = relative(outer, inner);
  return between === '' || (between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between));
}

function bad(detail: string, cause?: unknown): Problem {
  return new Problem('git.bad_folder', 422, detail, { fields: { folder: detail }, cause });
}
