import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { GitError } from '../engine/git.ts';
import type { Issue, Issues } from '../issues/issues.ts';
import { readLog, type Commit } from '../repositories/commits.ts';
import type { Protections } from '../protection/protections.ts';
import type { Author } from '../repositories/first-commit.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Db } from '../gitea-api/api-dependencies.ts';
import type { PullRow } from '../store/issue-tables.ts';
import { noObject, type RefChange } from '../transfer/push-request.ts';
import type { Pushes } from '../transfer/pushes.ts';
import { defaultOptions } from '../wire/repositories.ts';
import { MergeArea } from './merge-area.ts';
import { mergeMessage, squashMessage, type MergeSubject } from './merge-messages.ts';
import type { MergeRules } from './merge-rules.ts';
import { isPull, type PullServiceDependencies, type Pulls, type PullState } from './pulls.ts';

export const mergeStyles = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'] as const;
export type MergeStyle = (typeof mergeStyles)[number];

const allowedBy: Readonly<Record<MergeStyle, keyof typeof defaultOptions>> = {
  merge: 'allow_merge_commits',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash_merge',
  'fast-forward-only': 'allow_fast_forward_only_merge',
};

/** Lists the merge styles that the repository allows. */
export function stylesOf({ options }: Repository): readonly MergeStyle[] {
  const set: Record<string, unknown> = { ...defaultOptions, ...options };
  return mergeStyles.filter((style) => set[allowedBy[style]] === true);
}

export interface MergeWish {
  readonly style: MergeStyle;
  readonly account: string;
  /** Committer of the new commits. */
  readonly committer: Author;
  /** Author of a squash commit. */
  readonly author: Author;
  readonly title?: string | undefined;
  readonly message?: string | undefined;
  /** Set if an administrator of the repository merges despite the branch protection. */
  readonly force?: boolean | undefined;
  /** Expected commit of the head branch. */
  readonly head?: string | undefined;
  readonly deleteBranch?: boolean | undefined;
}

export interface MergeDependencies extends PullServiceDependencies {
  readonly context: Pick<Context, 'commit' | 'files' | 'random'>;
  readonly issues: Issues;
  readonly protections: Pick<Protections, 'checkCommit' | 'checkRewrite' | 'of'>;
  readonly rules: Pick<MergeRules, 'check'>;
  readonly pulls: Pulls;
  readonly pushes: Pushes;
}

/** Maximum number of commits that are replayed. */
const mostReplayed = 250;

/** Merges pull requests, one at a time in each repository. */
export class Merges {
  readonly #dependencies: MergeDependencies;
  readonly #turns = new Map<number, Promise<unknown>>();

  constructor(deps: MergeDependencies) {
    this.#dependencies = deps;
  }

  /**
   * Merges a pull request. The result is visible when it resolves.
   * @throws Problem (405, 409)
   */
  merge(repository: Repository, number: number, wish: MergeWish): Promise<void> {
    return this.#inTurn(repository, async () => {
      const issue = await this.#open(repository, number);
      const state = await this.#dependencies.pulls.state(repository, issue);
      if (!stylesOf(repository).includes(wish.style)) {
        throw new Problem('git.style', 405, `${wish.style} is not an allowed merge style for this repository`);
      }
      if (state.draft) throw new Problem('git.draft', 405, 'Work in progress PRs cannot be merged');
      if (wish.head !== undefined && wish.head !== '' && wish.head !== state.head)
        throw new Problem('git.moved', 409, 'head out of date');
      await this.#dependencies.rules.check(repository, issue, state, wish);
      const { context, folder, git } = this.#dependencies;
      await using area = await MergeArea.open(context, git, folder(repository));
      const made = await this.#make(area, repository, issue, state, wish);
      if (made !== state.head) await area.keep(made, [state.base, state.head]);
      await this.#move(repository, issue, state, made, wish);
    });
  }

  /**
   * Updates the head branch with the commits of the base branch.
   * @throws Problem (409)
   */
  update(
    repository: Repository,
    number: number,
    style: 'merge' | 'rebase',
    wish: Pick<MergeWish, 'account' | 'committer'>,
  ): Promise<void> {
    return this.#inTurn(repository, async () => {
      const issue = await this.#open(repository, number);
      const { context, folder, git, pushes } = this.#dependencies;
      const { base, comparison, head, headRepository, hasHead } = await this.#dependencies.pulls.state(
        repository,
        issue,
      );
      if (headRepository === undefined || !hasHead)
        throw new Problem('git.unknown', 404, 'the branch of this pull request is gone');
      if (comparison.behind === 0) return;
      const { base_branch, head_branch } = issue.request;
      const { protections } = this.#dependencies;
      // A rebase replaces the commits of the branch.
      if (style === 'rebase') await protections.checkRewrite(headRepository.id, head_branch, wish);
      else await protections.checkCommit(headRepository.id, head_branch, wish);
      await using area = await MergeArea.open(context, git, folder(repository));
      const made =
        style === 'rebase'
          ? await this.#replayed(area, repository, base, head, wish.committer)
          : await this.#joined(area, head, base, `Merge branch '${base_branch}' into ${head_branch}`, wish.committer);
      await area.keep(made, [head], folder(headRepository));
      const change = { ref: `refs/heads/${head_branch}`, before: head, after: made };
      const id = await pushes.begin(headRepository, wish.account, [change]);
      await this.#change(headRepository, id, wish.account, [change]);
    });
  }

  /** Removes records of merges whose push was not completed before the host ended. */
  async forgetUnmade(): Promise<void> {
    await this.#dependencies.context.commit((transaction: Db) =>
      transaction
        .deleteFrom('pull_merges')
        .where('push_id', 'not in', transaction.selectFrom('pushes').select('id'))
        .execute(),
    );
  }

  async #open(repository: Repository, number: number): Promise<Issue & { readonly request: PullRow }> {
    const issue = await this.#dependencies.issues.find(repository.id, number);
    if (issue === undefined || !isPull(issue)) throw new Problem('git.unknown', 404, 'not found');
    if (issue.request.merged_commit !== null) throw new Problem('git.merged', 405, 'The PR is already merged');
    if (issue.closed === 1) throw new Problem('git.closed', 405, 'The PR is closed');
    return issue;
  }

  /** Creates the new commit of the base branch. */
  async #make(
    area: MergeArea,
    repository: Repository,
    issue: Issue & { readonly request: PullRow },
    { base, comparison, head, headRepository }: PullState,
    wish: MergeWish,
  ): Promise<string> {
    const { base_branch, head_branch } = issue.request;
    const foreign =
      headRepository === undefined || headRepository.id === repository.id
        ? ''
        : `${headRepository.owner}/${headRepository.name}:`;
    const subject: MergeSubject = {
      title: issue.title,
      number: issue.number,
      from: foreign + head_branch,
      into: base_branch,
    };
    const said = (otherwise: string): string => {
      const [title = '', body = ''] = [wish.title?.trim(), wish.message?.trim()];
      if (title === '' && body === '') return otherwise;
      const [first = '', ...rest] = otherwise.split('\n\n');
      return [title === '' ? first : title, body === '' ? rest.join('\n\n') : body]
        .filter((part) => part !== '')
        .join('\n\n');
    };
    switch (wish.style) {
      case 'merge':
        return this.#joined(area, base, head, said(mergeMessage(subject)), wish.committer);
      case 'squash': {
        const merged = await area.merge(base, head);
        if ('conflicts' in merged) throw conflict(merged.conflicts);
        const commits = await this.#commits(repository, base, head);
        return area.commit(
          merged.tree,
          [base],
          said(squashMessage(subject, commits, wish.author)),
          wish.author,
          wish.committer,
        );
      }
      case 'rebase':
        return this.#replayed(area, repository, base, head, wish.committer);
      case 'rebase-merge': {
        const top = await this.#replayed(area, repository, base, head, wish.committer);
        const tree = (await area.run(['rev-parse', `${top}^{tree}`])).stdout.toString().trim();
        return area.commit(tree, [base, top], said(mergeMessage(subject)), wish.committer);
      }
      case 'fast-forward-only':
        if (comparison.mergeBase === base) return head;
        throw new Problem(
          'git.diverged',
          409,
          `${base_branch} has commits that ${head_branch} has not: it cannot be moved forward to it.`,
        );
    }
  }

  async #joined(area: MergeArea, ours: string, theirs: string, message: string, committer: Author): Promise<string> {
    const merged = await area.merge(ours, theirs);
    if ('conflicts' in merged) throw conflict(merged.conflicts);
    return area.commit(merged.tree, [ours, theirs], message, committer);
  }

  async #replayed(
    area: MergeArea,
    repository: Repository,
    onto: string,
    head: string,
    committer: Author,
  ): Promise<string> {
    const commits = await this.#commits(repository, onto, head);
    if (commits.length > mostReplayed)
      throw new Problem('git.too_many', 409, `These are more than ${mostReplayed} commits: merge or squash them.`);
    const top = await area.replay(commits, onto, committer);
    if (typeof top !== 'string') throw conflict(top.conflicts);
    return top;
  }

  /** Lists the commits of the head without merges, oldest first. */
  async #commits(repository: Repository, base: string, head: string): Promise<readonly Commit[]> {
    const { folder, git } = this.#dependencies;
    const query = { from: [head], not: [base], limit: mostReplayed + 1 };
    const commits = await readLog(git, folder(repository), query);
    return commits.filter(({ parents }) => parents.length < 2).toReversed();
  }

  /** Moves the base branch to the new commit and optionally deletes the head branch. */
  async #move(
    repository: Repository,
    issue: Issue & { readonly request: PullRow },
    { base, comparison, head, headRepository, hasHead }: PullState,
    made: string,
    wish: MergeWish,
  ): Promise<void> {
    const { context, protections, pushes } = this.#dependencies;
    const { base_branch, head_branch } = issue.request;
    const changes: RefChange[] = [{ ref: `refs/heads/${base_branch}`, before: base, after: made }];
    const isOwn = headRepository?.id === repository.id;
    const isFree =
      isOwn &&
      hasHead &&
      head_branch !== repository.defaultBranch &&
      !(await this.#isWanted(repository, issue.id, head_branch));
    const isProtected = (await protections.of(repository.id, head_branch)) !== undefined;
    if (wish.deleteBranch === true && isFree && !isProtected)
      changes.push({ ref: `refs/heads/${head_branch}`, before: head, after: noObject });
    const id = await pushes.begin(repository, wish.account, changes);
    // This record identifies the push as a merge, also after an interruption.
    await context.commit(async (transaction: Db) => {
      await transaction
        .insertInto('pull_merges')
        .values({ push_id: id, issue_id: issue.id, account: wish.account, commit: made })
        .execute();
      await transaction
        .updateTable('pulls')
        .set({ head_commit: head, merge_base: comparison.mergeBase ?? base })
        .where('issue_id', '=', issue.id)
        .execute();
    });
    await this.#change(repository, id, wish.account, changes);
  }

  /** Returns true if another open pull request uses this branch. */
  async #isWanted(repository: Repository, but: number, branch: string): Promise<boolean> {
    const other = await this.#dependencies.db
      .selectFrom('pulls')
      .innerJoin('issues', 'issues.id', 'pulls.issue_id')
      .select('issues.id')
      .where('issues.closed', '=', 0)
      .where('issues.id', '!=', but)
      .where((is) =>
        is.or([
          is.and([is('issues.repository_id', '=', repository.id), is('pulls.base_branch', '=', branch)]),
          is.and([is('pulls.head_repository_id', '=', repository.id), is('pulls.head_branch', '=', branch)]),
        ]),
      )
      .executeTakeFirst();
    return other !== undefined;
  }

  async #change(repository: Repository, id: string, account: string, changes: readonly RefChange[]): Promise<void> {
    const { context, folder, git, pushes } = this.#dependencies;
    const lines = changes.map(({ ref, before, after }) =>
      after === noObject ? `delete ${ref} ${before}` : `update ${ref} ${after} ${before}`,
    );
    try {
      await git.run(folder(repository), ['update-ref', '--stdin'], { input: `${lines.join('\n')}\n` });
    } catch (cause) {
      await pushes.settle(id, repository, account, []);
      await context.commit((transaction: Db) =>
        transaction.deleteFrom('pull_merges').where('push_id', '=', id).execute(),
      );
      if (!(cause instanceof GitError)) throw cause;
      throw new Problem('git.moved', 409, 'A branch was changed meanwhile; look again.', { cause });
    }
    await pushes.settle(id, repository, account, changes);
  }

  async #inTurn<T>(repository: Repository, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(repository.id);
    const turn = (async () => {
      await before?.catch(() => undefined);
      return work();
    })();
    this.#turns.set(repository.id, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(repository.id) === turn) this.#turns.delete(repository.id);
    }
  }
}

function conflict(files: readonly string[]): Problem {
  const which = files.length === 0 ? 'their histories have nothing in common' : files.slice(0, 20).join(', ');
  return new Problem('git.conflict', 409, `Merge conflict: ${which}`);
}
