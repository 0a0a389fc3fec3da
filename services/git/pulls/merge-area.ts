import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../../contracts/service.ts';
import { GitError, type Git, type Ran, type RunOptions } from '../engine/git.ts';
import { authorship, type Author } from '../repositories/first-commit.ts';
import type { Commit } from '../repositories/commits.ts';

/** Result of a merge: a tree, or the files with conflicts. */
export type TreeMerge = { readonly tree: string } | { readonly conflicts: readonly string[] };

/**
 * Temporary object folder for a merge. Git reads the objects of the repository and writes new ones here, without a work
 * tree. The repository is not changed before {@link MergeArea.keep}.
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
    const path = join(areasOf(files), random.text(20));
    await mkdir(path, { recursive: true, mode: 0o700 });
    return new MergeArea(git, folder, path);
  }

  /** Merges two commits like `git merge`. */
  async merge(ours: string, theirs: string): Promise<TreeMerge> {
    const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', '--end-of-options', ours, theirs];
    const { code, stdout } = await this.run(args, { codes: [1] }).catch((error: unknown) => {
      // Unrelated histories are reported as a conflict.
      if (error instanceof GitError && error.words.includes('unrelated histories'))
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
      environment: authorship(author, committer, date === undefined ? {} : { author: date }),
    });
    return stdout.toString().trim();
  }

  /** Replays commits on top of another one like `git rebase`. Returns the last commit. */
  async replay(
    commits: readonly Commit[],
    onto: string,
    committer: Author,
  ): Promise<string | { readonly conflicts: readonly string[] }> {
    let top = onto;
    for (const { id, author, authored, message, parents } of commits) {
      const [parent] = parents;
      if (parent === top) {
        top = id;
        continue;
      }
      const tree = await this.#treeOf(top);
      // With this temporary commit the parent is the only merge base, so the result contains exactly the changes of the
      // commit.
      const ours = await this.commit(tree, parent === undefined ? [] : [parent], 'replayed', committer);
      const merged = await this.merge(ours, id);
      if ('conflicts' in merged) return merged;
      // Skip commits whose changes are already present.
      if (merged.tree === tree) continue;
      top = await this.commit(
        merged.tree,
        [top],
        message,
        author,
        committer,
        authored === '' ? undefined : `@${authored}`,
      );
    }
    return top;
  }

  /** Copies a commit and the objects that are missing beyond `known` into a repository. */
  async keep(commit: string, known: readonly string[], into = this.#folder): Promise<void> {
    const input = [commit, ...known.map((id) => `^${id}`)].join('\n');
    const { stdout } = await this.run(['pack-objects', '--revs', '--stdout', '-q'], { input: `${input}\n` });
    await this.#git.run(into, ['unpack-objects', '-q'], { input: stdout });
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    return this.#git.run(this.#folder, args, {
      ...options,
      environment: { ...this.#environment, ...options.environment },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#path, { recursive: true, force: true, maxRetries: 3 });
  }

  async #treeOf(commit: string): Promise<string> {
    return (await this.run(['rev-parse', '--verify', `${commit}^{tree}`])).stdout.toString().trim();
  }
}

/** Removes merge areas that a killed host left behind. */
export async function cleanMergeAreas(files: string): Promise<void> {
  await rm(areasOf(files), { recursive: true, force: true });
}

function areasOf(files: string): string {
  return join(files, 'merges');
}
