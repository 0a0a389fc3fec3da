import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import type { Context } from '../../contracts/service.ts';
import { GitError, type Git, type GitResult, type RunOptions } from '../engine/git.ts';
import { buildAuthorEnvironment, type Author } from '../repositories/first-commit.ts';
import type { Commit } from '../repositories/commits.ts';

/** Result of a merge: a tree, or the files with conflicts. */
export type TreeMerge = { readonly tree: string } | { readonly conflicts: readonly string[] };

/**
 * Temporary object folder for a merge. Git reads the objects of the repository and writes new ones here, without a work
 * tree. The repository is not changed before {@link MergeArea.saveTo}.
 */
export class MergeArea implements AsyncDisposable {
  readonly #git: Git;
  readonly #folder: string;
  readonly #path: string;
  readonly #environment: Readonly<Record<string, string>>;

  private constructor(git: Git, folder: string, path: string) {
    this.#git = git;
    this.#folder = folder;
    this.#path = path;
    this.#environment = { GIT_OBJECT_DIRECTORY: path, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(folder, 'objects') };
  }

  static async open(
    { files, random }: Pick<Context, 'files' | 'random'>,
    git: Git,
    folder: string,
  ): Promise<MergeArea> {
    const path = join(getAreasFolder(files), random.text(20));
    await mkdir(path, { recursive: true, mode: 0o700 });
    return new MergeArea(git, folder, path);
  }

  /** Merges two commits like `git merge`. */
  async merge(ownCommit: string, otherCommit: string): Promise<TreeMerge> {
    const args = [
      'merge-tree',
      '--write-tree',
      '-z',
      '--name-only',
      '--no-messages',
      '--end-of-options',
      ownCommit,
      otherCommit,
    ];
    const { code, stdout } = await this.run(args, { allowedExitCodes: [1] }).catch((error: unknown) => {
      // Unrelated histories are reported as a conflict.
      if (error instanceof GitError && error.failure === 'unrelated_histories')
        return { code: 1, stdout: Buffer.alloc(0) };
      throw error;
    });
    const [tree = '', ...files] = stdout.toString().split('\0');
    return code === 0 ? { tree } : { conflicts: [...new Set(files.filter((file) => file !== ''))] };
  }

  async commit(
    tree: string,
    parents: readonly string[],
    message: string,
    author: Author,
    committer = author,
    date?: string,
  ): Promise<string> {
    const { stdout } = await this.run(['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])], {
      input: message.endsWith('\n') ? message : `${message}\n`,
      environment: buildAuthorEnvironment(author, committer, date === undefined ? {} : { author: date }),
    });
    return stdout.toString().trim();
  }

  /** Replays commits on top of another one like `git rebase`. Returns the last commit. */
  async replay(
    commits: readonly Commit[],
    onto: string,
    committer: Author,
  ): Promise<string | { readonly conflicts: readonly string[] }> {
    let tip = onto;
    for (const { id, author, rawAuthorDate: authored, message, parents } of commits) {
      const [parent] = parents;
      if (parent === tip) {
        tip = id;
        continue;
      }
      const tree = await this.#getTree(tip);
      // With this temporary commit the parent is the only merge base, so the result contains exactly the changes of the
      // commit.
      const ownCommit = await this.commit(tree, parent === undefined ? [] : [parent], 'replayed', committer);
      const result = await this.merge(ownCommit, id);
      if ('conflicts' in result) return result;
      // Skip commits that do not change the tree.
      if (result.tree === tree) continue;
      tip = await this.commit(
        result.tree,
        [tip],
        message,
        author,
        committer,
        authored === '' ? undefined : `@${authored}`,
      );
    }
    return tip;
  }

  /** Copies a commit and the objects that are missing beyond `existing` into a repository. */
  async saveTo(commit: string, existing: readonly string[], target = this.#folder): Promise<void> {
    const input = [commit, ...existing.map((id) => `^${id}`)].join('\n');
    const { stdout } = await this.run(['pack-objects', '--revs', '--stdout', '-q'], { input: `${input}\n` });
    await this.#git.run(target, ['unpack-objects', '-q'], { input: stdout });
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    return this.#git.run(this.#folder, args, {
      ...options,
      environment: { ...this.#environment, ...options.environment },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeTree(this.#path);
  }

  async #getTree(commit: string): Promise<string> {
    return (await this.run(['rev-parse', '--verify', `${commit}^{tree}`])).stdout.toString().trim();
  }
}

/** Removes merge areas that a killed host left behind. */
export async function cleanMergeAreas(files: string): Promise<void> {
  await removeTree(getAreasFolder(files));
}

function getAreasFolder(files: string): string {
  return join(files, 'merges');
}
