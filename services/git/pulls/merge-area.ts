import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../../contracts/service.ts';
import { GitFailed, type Git, type Ran, type RunOptions } from '../engine/git.ts';
import { authorship, type Author } from '../repositories/first-commit.ts';
import type { Commit } from '../repositories/commits.ts';

/** What came of bringing two commits together: a tree, or the files that stand against it. */
export type TreeMerge = { readonly tree: string } | { readonly conflicts: readonly string[] };

/**
 * A place for the objects of a merge that may come to nothing: git reads those of the repository, and writes here. No work
 * tree is needed, and nothing of the repository is touched before {@link MergeArea.keep}.
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

  /** Two commits brought together as `git merge` does. */
  async merge(ours: string, theirs: string): Promise<TreeMerge> {
    const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', '--end-of-options', ours, theirs];
    const { code, stdout } = await this.run(args, { codes: [1] }).catch((error: unknown) => {
      // Histories that have nothing in common are never merged by themselves.
      if (error instanceof GitFailed && error.words.includes('unrelated histories'))
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

  /** Commits one after another on top of another one, as `git rebase` does. Answers the last. */
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
      // With this one as ours, the only commit both have in common is the parent: what remains is what the commit changed.
      const ours = await this.commit(tree, parent === undefined ? [] : [parent], 'replayed', committer);
      const merged = await this.merge(ours, id);
      if ('conflicts' in merged) return merged;
      // What is there already needs no commit of its own.
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

  /** Puts a commit, and what it needs beyond `known`, into a repository: this one, or one that it was copied to. */
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

/** What a host that was killed left of its merges is of no use. */
export async function cleanMergeAreas(files: string): Promise<void> {
  await rm(areasOf(files), { recursive: true, force: true });
}

function areasOf(files: string): string {
  return join(files, 'merges');
}
