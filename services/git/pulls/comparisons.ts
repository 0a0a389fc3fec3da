import type { Context } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';
import { compareChanges, countLog, mergeBase, type FileChange } from '../repositories/commits.ts';
import { MergeArea } from './merge-area.ts';

/** How two commits stand to each other. It depends on nothing but them. */
export interface Comparison {
  /** Undefined: they have no commit in common. */
  readonly mergeBase: string | undefined;
  /** Commits of the head that the base has not, and the other way round. */
  readonly ahead: number;
  readonly behind: number;
  /** What the head changed since they parted. */
  readonly files: readonly FileChange[];
  /** Files on which a merge would need a person; undefined when it needs none. */
  readonly conflicts: readonly string[] | undefined;
}

/** As many as are remembered. */
const mostKept = 2000;

/** Compares commits; what was compared once is known from then on. */
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
    // What failed is tried again by who asks next.
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
