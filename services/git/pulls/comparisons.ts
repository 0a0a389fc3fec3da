import type { Context } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';
import { compareChanges, countLog, findMergeBase, type FileChange } from '../repositories/commits.ts';
import { MergeArea } from './merge-area.ts';

/** Comparison of two commits. It depends only on the commits. */
export interface Comparison {
  /** Undefined if the histories have no commit in common. */
  readonly mergeBase: string | undefined;
  /** Number of commits of the head that the base does not contain. */
  readonly ahead: number;
  /** Number of commits of the base that the head does not contain. */
  readonly behind: number;
  /** Changes of the head since the merge base. */
  readonly files: readonly FileChange[];
  /** Files with conflicts, or undefined if the commits can be merged. */
  readonly conflicts: readonly string[] | undefined;
}

/** Maximum number of cached comparisons. */
const maxCached = 2000;

/** Compares commits and caches the results. */
export class Comparisons {
  readonly #context: Pick<Context, 'files' | 'random'>;
  readonly #git: Git;
  readonly #cache = new Map<string, Promise<Comparison>>();

  constructor(context: Pick<Context, 'files' | 'random'>, git: Git) {
    this.#context = context;
    this.#git = git;
  }

  async compare(folder: string, base: string, head: string): Promise<Comparison> {
    const key = `${folder} ${base} ${head}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const [oldest] = this.#cache.keys();
    if (this.#cache.size >= maxCached && oldest !== undefined) this.#cache.delete(oldest);
    const comparison = this.#compare(folder, base, head);
    this.#cache.set(key, comparison);
    // Failed comparisons are not cached.
    comparison.catch(() => this.#cache.delete(key));
    return comparison;
  }

  async #compare(folder: string, base: string, head: string): Promise<Comparison> {
    const git = this.#git;
    const [mergeBase, ahead, behind] = await Promise.all([
      findMergeBase(git, folder, base, head),
      countLog(git, folder, { from: [head], exclude: [base] }),
      countLog(git, folder, { from: [base], exclude: [head] }),
    ]);
    const files = mergeBase === undefined ? [] : await compareChanges(git, folder, mergeBase, head);
    if (mergeBase === base || mergeBase === head) return { mergeBase, ahead, behind, files, conflicts: undefined };
    await using area = await MergeArea.open(this.#context, git, folder);
    const result = await area.merge(base, head);
    const conflicts = 'conflicts' in result ? result.conflicts : undefined;
    return { mergeBase, ahead, behind, files, conflicts };
  }
}
