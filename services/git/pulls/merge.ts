import * as m from '#messages/git-problems';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { GitError } from '../engine/git.ts';
import type { Issue, Issues } from '../issues/issues.ts';
import { readLog, type Commit } from '../repositories/commits.ts';
import type { Protections } from '../protection/protections.ts';
import type { Author } from '../repositories/first-commit.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';
import type { Db } from '../store/tables.ts';
import type { PullRow } from '../store/issue-tables.ts';
import { zeroId, type RefChange } from '../domain/ref-change.ts';
import type { PushRecovery } from '../transfer/push-recovery.ts';
import type { Pushes } from '../transfer/pushes.ts';
import { defaultOptions } from '../repositories/default-options.ts';
import { MergeArea } from './merge-area.ts';
import { buildMergeMessage, buildSquashMessage, type MergeSubject } from './merge-messages.ts';
import type { MergeRules } from './merge-rules.ts';
import { isPull, type PullServiceDependencies, type Pulls, type PullState } from './pulls.ts';

export const mergeStyles = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'] as const;
export type MergeStyle = (typeof mergeStyles)[number];

const styleSettings: Readonly<Record<MergeStyle, keyof typeof defaultOptions>> = {
  merge: 'allow_merge_commits',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash_merge',
  'fast-forward-only': 'allow_fast_forward_only_merge',
};

/** Lists the merge styles that the repository allows. */
export function getAllowedStyles({ options }: Repository): readonly MergeStyle[] {
  const allOptions: Record<string, unknown> = { ...defaultOptions, ...options };
  return mergeStyles.filter((style) => allOptions[styleSettings[style]] === true);
}

export interface MergeOptions {
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
  readonly storage: PullServiceDependencies['storage'] & Pick<RepositoryStorage, 'locks'>;
  readonly issues: Issues;
  readonly pushControl: {
    readonly protections: Pick<Protections, 'checkCommit' | 'checkRewrite' | 'findRule'>;
    readonly pushes: Pushes;
    readonly recovery: Pick<PushRecovery, 'runAmongHosts'>;
  };
  readonly rules: Pick<MergeRules, 'check'>;
  readonly pulls: Pulls;
}

/** Maximum number of commits that are replayed. */
const maxReplayed = 250;

/** Merges pull requests, one at a time in each repository. */
export class Merges {
  readonly #dependencies: MergeDependencies;

  constructor(deps: MergeDependencies) {
    this.#dependencies = deps;
  }

  /**
   * Merges a pull request. The result is visible when it resolves.
   * @throws Problem (405, 409)
   */
  merge(repository: Repository, number: number, options: MergeOptions): Promise<void> {
    return this.#runExclusively(repository, async () => {
      const issue = await this.#requireOpen(repository, number);
      const state = await this.#dependencies.pulls.state(repository, issue);
      if (!getAllowedStyles(repository).includes(options.style)) {
        throw new Problem('git.style', 405, `${options.style} is not an allowed merge style for this repository`);
      }
      if (state.draft) throw new Problem('git.draft', 405, 'Work in progress PRs cannot be merged');
      if (options.head !== undefined && options.head !== '' && options.head !== state.head)
        throw new Problem('git.moved', 409, 'head out of date');
      await this.#dependencies.rules.check(repository, issue, state, options);
      const { context } = this.#dependencies;
      const { folder, git } = this.#dependencies.storage;
      await using area = await MergeArea.open(context, git, folder(repository));
      const commit = await this.#createCommit(area, repository, issue, state, options);
      if (commit !== state.head) await area.saveTo(commit, [state.base, state.head]);
      await this.#updateBranches(repository, issue, state, commit, options);
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
    options: Pick<MergeOptions, 'account' | 'committer'>,
  ): Promise<void> {
    return this.#runExclusively(repository, async () => {
      const issue = await this.#requireOpen(repository, number);
      const { context, pushControl, storage } = this.#dependencies;
      const { pushes } = pushControl;
      const { folder, git } = storage;
      const { base, comparison, head, headRepository, hasHead } = await this.#dependencies.pulls.state(
        repository,
        issue,
      );
      if (headRepository === undefined || !hasHead)
        throw new Problem('git.unknown', 404, 'the branch of this pull request no longer exists');
      if (comparison.behind === 0) return;
      const { base_branch, head_branch } = issue.request;
      const { protections } = this.#dependencies.pushControl;
      // A rebase replaces the commits of the branch.
      if (style === 'rebase') await protections.checkRewrite(headRepository.id, head_branch, options);
      else await protections.checkCommit(headRepository.id, head_branch, options);
      await using area = await MergeArea.open(context, git, folder(repository));
      const commit =
        style === 'rebase'
          ? await this.#rebase(area, repository, base, head, options.committer)
          : await this.#createMergeCommit(
              area,
              head,
              base,
              `Merge branch '${base_branch}' into ${head_branch}`,
              options.committer,
            );
      await area.saveTo(commit, [head], folder(headRepository));
      const change = { ref: `refs/heads/${head_branch}`, before: head, after: commit };
      const id = await pushes.begin(headRepository, options.account, [change]);
      await this.#updateReferences(headRepository, id, options.account, [change]);
    });
  }

  /** Removes records of merges whose push was not completed before the host ended. */
  async removeUnfinished(): Promise<void> {
    await this.#dependencies.context.commit((transaction: Db) =>
      transaction
        .deleteFrom('pull_merges')
        .where('push_id', 'not in', transaction.selectFrom('pushes').select('id'))
        .execute(),
    );
  }

  async #requireOpen(repository: Repository, number: number): Promise<Issue & { readonly request: PullRow }> {
    const issue = await this.#dependencies.issues.find(repository.id, number);
    if (issue === undefined || !isPull(issue)) throw new Problem('git.unknown', 404, 'not found');
    if (issue.request.merged_commit !== null) throw new Problem('git.merged', 405, 'The PR is already merged');
    if (issue.closed === 1) throw new Problem('git.closed', 405, 'The PR is closed');
    return issue;
  }

  /** Creates the new commit of the base branch. */
  async #createCommit(
    area: MergeArea,
    repository: Repository,
    issue: Issue & { readonly request: PullRow },
    { base, comparison, head, headRepository }: PullState,
    options: MergeOptions,
  ): Promise<string> {
    const { base_branch, head_branch } = issue.request;
    const headPrefix =
      headRepository === undefined || headRepository.id === repository.id
        ? ''
        : `${headRepository.owner}/${headRepository.name}:`;
    const subject: MergeSubject = {
      title: issue.title,
      number: issue.number,
      from: headPrefix + head_branch,
      into: base_branch,
    };
    const buildMessage = (defaultMessage: string): string => {
      const [title = '', body = ''] = [options.title?.trim(), options.message?.trim()];
      if (title === '' && body === '') return defaultMessage;
      const [first = '', ...rest] = defaultMessage.split('\n\n');
      return [title === '' ? first : title, body === '' ? rest.join('\n\n') : body]
        .filter((part) => part !== '')
        .join('\n\n');
    };
    switch (options.style) {
      case 'merge':
        return this.#createMergeCommit(area, base, head, buildMessage(buildMergeMessage(subject)), options.committer);
      case 'squash': {
        const result = await area.merge(base, head);
        if ('conflicts' in result) throw buildConflictProblem(result.conflicts);
        const commits = await this.#commits(repository, base, head);
        return area.commit(
          result.tree,
          [base],
          buildMessage(buildSquashMessage(subject, commits, options.author)),
          options.author,
          options.committer,
        );
      }
      case 'rebase':
        return this.#rebase(area, repository, base, head, options.committer);
      case 'rebase-merge': {
        const top = await this.#rebase(area, repository, base, head, options.committer);
        const tree = (await area.run(['rev-parse', `${top}^{tree}`])).stdout.toString().trim();
        return area.commit(tree, [base, top], buildMessage(buildMergeMessage(subject)), options.committer);
      }
      case 'fast-forward-only':
        if (comparison.mergeBase === base) return head;
        throw new Problem('git.diverged', 409, m.noFastForward({ base: base_branch, head: head_branch }));
    }
  }

  async #createMergeCommit(
    area: MergeArea,
    ours: string,
    base: string,
    message: string,
    committer: Author,
  ): Promise<string> {
    const result = await area.merge(ours, base);
    if ('conflicts' in result) throw buildConflictProblem(result.conflicts);
    return area.commit(result.tree, [ours, base], message, committer);
  }

  async #rebase(
    area: MergeArea,
    repository: Repository,
    onto: string,
    head: string,
    committer: Author,
  ): Promise<string> {
    const commits = await this.#commits(repository, onto, head);
    if (commits.length > maxReplayed)
      throw new Problem('git.too_many', 409, m.tooManyCommitsToRebase({ count: maxReplayed }));
    const top = await area.replay(commits, onto, committer);
    if (typeof top !== 'string') throw buildConflictProblem(top.conflicts);
    return top;
  }

  /** Lists the commits of the head without merges, oldest first. */
  async #commits(repository: Repository, base: string, head: string): Promise<readonly Commit[]> {
    const { folder, git } = this.#dependencies.storage;
    const query = { from: [head], exclude: [base], limit: maxReplayed + 1 };
    const commits = await readLog(git, folder(repository), query);
    return commits.filter(({ parents }) => parents.length < 2).toReversed();
  }

  /** Moves the base branch to the new commit and optionally deletes the head branch. */
  async #updateBranches(
    repository: Repository,
    issue: Issue & { readonly request: PullRow },
    { base, comparison, head, headRepository, hasHead }: PullState,
    commit: string,
    options: MergeOptions,
  ): Promise<void> {
    const { context, pushControl } = this.#dependencies;
    const { protections, pushes } = pushControl;
    const { base_branch, head_branch } = issue.request;
    const changes: RefChange[] = [{ ref: `refs/heads/${base_branch}`, before: base, after: commit }];
    const isSameRepository = headRepository?.id === repository.id;
    const isUnused =
      isSameRepository &&
      hasHead &&
      head_branch !== repository.defaultBranch &&
      !(await this.#isBranchInUse(repository, issue.id, head_branch));
    const isProtected = (await protections.findRule(repository.id, head_branch)) !== undefined;
    if (options.deleteBranch === true && isUnused && !isProtected)
      changes.push({ ref: `refs/heads/${head_branch}`, before: head, after: zeroId });
    const id = await pushes.begin(repository, options.account, changes);
    // This record identifies the push as a merge, also after an interruption.
    const recordMerge = async (transaction: Db): Promise<void> => {
      await transaction
        .insertInto('pull_merges')
        .values({ push_id: id, issue_id: issue.id, account: options.account, commit })
        .execute();
      await transaction
        .updateTable('pulls')
        .set({ head_commit: head, merge_base: comparison.mergeBase ?? base })
        .where('issue_id', '=', issue.id)
        .execute();
    };
    await context.commit(recordMerge).catch((error: unknown) => {
      pushes.abandon(id);
      throw error;
    });
    await this.#updateReferences(repository, id, options.account, changes);
  }

  /** Returns true if another open pull request uses this branch. */
  async #isBranchInUse(repository: Repository, exceptIssue: number, branch: string): Promise<boolean> {
    const other = await this.#dependencies.storage.db
      .selectFrom('pulls')
      .innerJoin('issues', 'issues.id', 'pulls.issue_id')
      .select('issues.id')
      .where('issues.closed', '=', 0)
      .where('issues.id', '!=', exceptIssue)
      .where((is) =>
        is.or([
          is.and([is('issues.repository_id', '=', repository.id), is('pulls.base_branch', '=', branch)]),
          is.and([is('pulls.head_repository_id', '=', repository.id), is('pulls.head_branch', '=', branch)]),
        ]),
      )
      .executeTakeFirst();
    return other !== undefined;
  }

  async #updateReferences(
    repository: Repository,
    id: string,
    account: string,
    changes: readonly RefChange[],
  ): Promise<void> {
    const { context, pushControl, storage } = this.#dependencies;
    const { pushes } = pushControl;
    const { folder, git } = storage;
    const lines = changes.map(({ ref, before: previous, after }) =>
      after === zeroId ? `delete ${ref} ${previous}` : `update ${ref} ${after} ${previous}`,
    );
    try {
      await git.run(folder(repository), ['update-ref', '--stdin'], { input: `${lines.join('\n')}\n` });
    } catch (cause) {
      // Git may have changed the references.
      if (!(cause instanceof GitError)) {
        pushes.abandon(id);
        throw cause;
      }
      await pushes.settle(id, repository, account, []);
      await context.commit((transaction: Db) =>
        transaction.deleteFrom('pull_merges').where('push_id', '=', id).execute(),
      );
      throw new Problem('git.moved', 409, m.branchMoved(), { cause });
    }
    await pushes.settle(id, repository, account, changes);
  }

  /** Runs work when no other host or request merges in the repository, and all earlier merges are recorded. */
  async #runExclusively<T>({ id }: Repository, work: () => Promise<T>): Promise<T> {
    const { pushControl, storage } = this.#dependencies;
    return storage.locks.run('merge', id, async () => {
      await pushControl.recovery.runAmongHosts(id);
      return work();
    });
  }
}

function buildConflictProblem(files: readonly string[]): Problem {
  const detail = files.length === 0 ? m.noCommonHistory() : m.mergeConflict({ files: files.slice(0, 20).join(', ') });
  return new Problem('git.conflict', 409, detail);
}
