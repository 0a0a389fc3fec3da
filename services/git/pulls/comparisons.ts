import type { Context } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';
import { compareChanges, countLog, mergeBase, type FileChange } from '../repositories/commits.ts';
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
const mostKept = 2000;

/** Compares commits and caches the results. */
export class Comparisons {
  readonly #context: Pick<Context, 'files' | 'random'>;
  readonly #git: Git;
  readonly #kept = new Map<string, Promise<Comparison>>();

  constructor(context: Pick<Context, 'files' | 'random'>, git: Git) {
    this.#context = context;
    this.#git = git;
  }

  async of(folder: string, base: string, head: string): Promise<Comparison> {
    const key = `${folder} ${base} ${head}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= mostKept && oldest !== undefined) this.#kept.delete(oldest);
    const made = this.#compare(folder, base, head);
    this.#kept.set(key, made);
    // Failed comparisons are not cached.
    made.catch(() => this.#kept.delete(key));
    return made;
  }

  async #compare(folder: string, base: string, head: string): Promise<Comparison> {
    const git = this.#git;
    const [common, ahead, behind] = await Promise.all([
      mergeBase(git, folder, base, head),
      countLog(git, folder, { from: [head], not: [base] }),
      countLog(git, folder, { from: [base], not: [head] }),
    ]);
    const files = common === undefined ? [] : await compareChanges(git, folder, common, head);
    if (common === base || common === head) return { mergeBase: common, ahead, behind, files, conflicts: undefined };
    await using area = await MergeArea.open(this.#context, git, folder);
    const merged = await area.merge(base, head);
    const conflicts = 'conflicts' in merged ? merged.conflicts : undefined;
    return { mergeBase: common, ahead, behind, files, conflicts };
  }
}
