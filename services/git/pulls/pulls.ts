import { GiteaProblem } from '../domain/page-problem.ts';
import * as m from '#messages/git-problems';
import { Problem } from '../../contracts/problem.ts';
import { zeroId } from '../domain/ref-change.ts';
import { GitError } from '../engine/git.ts';
import { isDraftTitle } from '../domain/issue-text.ts';
import { createIssue, type NewIssue } from '../issues/changes.ts';
import type { Issue } from '../issues/issues.ts';
import type { IssueWriter } from '../issues/writer.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';
import type { PullRow } from '../store/issue-tables.ts';
import type { Comparison, Comparisons } from './comparisons.ts';

export interface PullServiceDependencies {
  readonly comparisons: Comparisons;
  readonly storage: Pick<RepositoryStorage, 'db' | 'folder' | 'git' | 'objects' | 'repositories'>;
  readonly writer: IssueWriter;
}

/** Current state of a pull request. */
export interface PullState {
  readonly head: string;
  readonly base: string;
  /** Undefined if the repository was deleted. */
  readonly headRepository: Repository | undefined;
  /** True if the head branch exists. */
  readonly hasHead: boolean;
  readonly comparison: Comparison;
  readonly draft: boolean;
  readonly mergeable: boolean;
}

/** Head branch of a pull request. */
export interface PullHead {
  readonly repository: Repository;
  readonly branch: string;
  readonly commit: string;
}

/** Pull requests with their rows, references and branches. */
export class Pulls {
  readonly #dependencies: PullServiceDependencies;

  constructor(deps: PullServiceDependencies) {
    this.#dependencies = deps;
  }

  /** Returns the commit of a branch, or undefined if it does not exist. */
  async findBranch(repository: Repository, name: string): Promise<string | undefined> {
    const { folder, objects } = this.#dependencies.storage;
    return objects.findCommit(folder(repository), `refs/heads/${name}`);
  }

  /**
   * Creates a pull request and returns its number.
   * @throws Problem (409) with Gitea's message if one exists for these branches
   */
  async create(
    repository: Repository,
    account: string,
    head: PullHead,
    base: string,
    issueValues: Omit<NewIssue, 'pull'>,
  ): Promise<number> {
    const { comparisons, writer } = this.#dependencies;
    const { folder } = this.#dependencies.storage;
    const baseCommit = await this.findBranch(repository, base);
    if (baseCommit === undefined) throw new Problem('git.unknown', 404, `ref "${base}" does not exist`);
    await this.#fetchHead(repository, head);
    const { mergeBase } = await comparisons.compare(folder(repository), baseCommit, head.commit);
    const issue = await writer.run(repository, account, async (work) => {
      const existing = await work.db
        .selectFrom('pulls')
        .innerJoin('issues', 'issues.id', 'pulls.issue_id')
        .select(['issues.id', 'issues.number'])
        .where('issues.repository_id', '=', repository.id)
        .where('issues.closed', '=', 0)
        .where('pulls.head_repository_id', '=', head.repository.id)
        .where('pulls.head_branch', '=', head.branch)
        .where('pulls.base_branch', '=', base)
        .executeTakeFirst();
      if (existing !== undefined) {
        const ids = `id: ${existing.id}, issue_id: ${existing.number}, head_repo_id: ${head.repository.id}`;
        const branches = `base_repo_id: ${repository.id}, head_branch: ${head.branch}, base_branch: ${base}`;
        const detail = `pull request already exists for these targets [${ids}, ${branches}]`;
        throw new GiteaProblem('git.pull_exists', 409, detail, m.pullExists({ number: existing.number }));
      }
      const created = await createIssue(work, { ...issueValues, pull: true });
      await work.db
        .insertInto('pulls')
        .values({
          issue_id: created.id,
          head_repository_id: head.repository.id,
          head_branch: head.branch,
          base_branch: base,
          head_commit: head.commit,
          merge_base: mergeBase ?? '',
          maintainer_edit: 1,
          ref_due: 1,
        })
        .execute();
      return created;
    });
    await this.#writeReference(repository, issue.number, issue.id, head.commit);
    return issue.number;
  }

  /** Writes references that a killed host did not write. */
  async recover(): Promise<void> {
    const { db, repositories } = this.#dependencies.storage;
    const rows = await db
      .selectFrom('pulls')
      .innerJoin('issues', 'issues.id', 'pulls.issue_id')
      .select(['pulls.issue_id', 'pulls.head_commit', 'issues.number', 'issues.repository_id'])
      .where('pulls.ref_due', '=', 1)
      .execute();
    for (const { issue_id, head_commit, number, repository_id } of rows) {
      const repository = await repositories.findById(repository_id);
      if (repository !== undefined) await this.#writeMissingReference(repository, number, issue_id, head_commit);
    }
  }

  /** Updates `refs/pull/N/head` after the head branch moved. */
  async updateHead(repository: Repository, number: number, head: PullHead): Promise<void> {
    await this.#fetchHead(repository, head);
    const { folder, git } = this.#dependencies.storage;
    await git.run(folder(repository), ['update-ref', getPullReference(number), head.commit]);
  }

  async state(repository: Repository, issue: Issue & { readonly request: PullRow }): Promise<PullState> {
    const { comparisons } = this.#dependencies;
    const { folder, repositories } = this.#dependencies.storage;
    const { request } = issue;
    const isSameRepository = request.head_repository_id === repository.id;
    const headRepository = isSameRepository ? repository : await repositories.findById(request.head_repository_id);
    const currentHead = headRepository && (await this.findBranch(headRepository, request.head_branch));
    const isOpen = issue.closed === 0;
    const head = isOpen ? (currentHead ?? request.head_commit) : request.head_commit;
    const merged = request.merged_commit !== null;
    // A merged pull request keeps its comparison.
    const base = merged
      ? request.merge_base
      : ((await this.findBranch(repository, request.base_branch)) ?? request.merge_base);
    const comparison = await comparisons.compare(folder(repository), base, head);
    const draft = isDraftTitle(issue.title);
    const mergeable = isOpen && !draft && comparison.conflicts === undefined && comparison.mergeBase !== undefined;
    return { head, base, headRepository, hasHead: currentHead !== undefined, comparison, draft, mergeable };
  }

  /** Fetches the objects of a branch from another repository. */
  async #fetchHead(repository: Repository, head: PullHead): Promise<void> {
    if (head.repository.id === repository.id) return;
    const { folder, git } = this.#dependencies.storage;
    const args = [
      'fetch',
      '--quiet',
      '--no-tags',
      '--no-write-fetch-head',
      '--end-of-options',
      folder(head.repository),
      head.commit,
    ];
    await git.run(folder(repository), args);
  }

  /** Writes the reference of an interrupted request, unless a later push has written it. */
  async #writeMissingReference(repository: Repository, number: number, issue: number, commit: string): Promise<void> {
    const { db, folder, git, objects } = this.#dependencies.storage;
    const ref = getPullReference(number);
    const isMissing = async (): Promise<boolean> => (await objects.findCommit(folder(repository), ref)) === undefined;
    if (await isMissing()) {
      try {
        await git.run(folder(repository), ['update-ref', ref, commit, zeroId]);
      } catch (error) {
        // Another host has written the reference in the meantime.
        if (!(error instanceof GitError) || (await isMissing())) throw error;
      }
    }
    await db.updateTable('pulls').set({ ref_due: 0 }).where('issue_id', '=', issue).execute();
  }

  async #writeReference(repository: Repository, number: number, issue: number, commit: string): Promise<void> {
    const { db, folder, git } = this.#dependencies.storage;
    await git.run(folder(repository), ['update-ref', getPullReference(number), commit]);
    await db.updateTable('pulls').set({ ref_due: 0 }).where('issue_id', '=', issue).execute();
  }
}

/** Returns true if the issue is a pull request. */
export function isPull(issue: Issue): issue is Issue & { readonly request: PullRow } {
  return issue.request !== undefined;
}

function getPullReference(number: number): string {
  return `refs/pull/${number}/head`;
}
