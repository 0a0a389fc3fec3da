import type { Kysely } from 'kysely';
import { fromOtherRepository } from '../issues/writer.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import { RepositoryRecord } from './record.ts';

/** Reads all data of a repository from the tables, without keys, hooks, collaborators and pending reviews. */
export async function readRecord(
  db: Kysely<Tables>,
  repository: Repository,
  savedAt: number,
): Promise<RepositoryRecord> {
  const { owner, name, description, website, archived, template, topics, options, defaultBranch } = repository;
  const rows = new RepositoryRows(db, repository.id);
  // Columns that the schema does not contain are dropped.
  return RepositoryRecord.parse({
    format: 'homeport-repository',
    version: 1,
    savedAt,
    repository: {
      owner,
      name,
      description,
      website,
      private: repository.private,
      archived,
      template,
      topics,
      options,
      defaultBranch,
    },
    lastNumber: await rows.readLastNumber(),
    ...(await rows.readPulls()),
    ...(await rows.readTimelines()),
    ...(await rows.readIssues()),
    ...(await rows.readCommitRules()),
    ...(await rows.readReleases()),
    largeFiles: await rows.selectByRepository('lfs_objects').execute(),
  });
}

type RepositoryTable =
  | 'labels'
  | 'milestones'
  | 'issues'
  | 'protections'
  | 'tag_protections'
  | 'commit_statuses'
  | 'releases'
  | 'lfs_objects';

type IssueTable =
  'issue_labels' | 'issue_assignees' | 'review_requests' | 'pulls' | 'tracked_times' | 'issue_dependencies';

/** Reads the rows of a repository by the names of the record. */
class RepositoryRows {
  readonly #db: Kysely<Tables>;
  readonly #id: number;

  constructor(db: Kysely<Tables>, id: number) {
    this.#db = db;
    this.#id = id;
  }

  /** Returns the last number of an issue, which is 0 before the first one. */
  async readLastNumber(): Promise<number> {
    const counter = await this.#db
      .selectFrom('issue_counters')
      .select('last')
      .where('repository_id', '=', this.#id)
      .executeTakeFirst();
    return counter?.last ?? 0;
  }

  async readPulls() {
    const pulls = await this.#selectByIssue('pulls').execute();
    const reviews = await this.#db
      .selectFrom('reviews')
      .selectAll()
      .where('issue_id', 'in', this.#issueIds())
      .where('state', '!=', 'PENDING')
      .execute();
    return { pulls: pulls.map((pull) => ({ ...pull, own: pull.head_repository_id === this.#id })), reviews };
  }

  /** Reads comments and events with their reactions and attachments, without those of pending reviews. */
  async readTimelines() {
    const pendingEntries = this.#pendingEntryIds();
    return {
      issue_entries: await this.#db
        .selectFrom('issue_entries')
        .selectAll()
        .where('issue_id', 'in', this.#issueIds())
        .where('id', 'not in', pendingEntries)
        // Repositories have other IDs after an import.
        .where('details', 'not like', fromOtherRepository)
        .execute(),
      issue_reactions: await this.#db
        .selectFrom('issue_reactions')
        .selectAll()
        .where('issue_id', 'in', this.#issueIds())
        .where('entry_id', 'not in', pendingEntries)
        .execute(),
      issue_attachments: await this.#db
        .selectFrom('issue_attachments')
        .selectAll()
        .where('issue_id', 'in', this.#issueIds())
        .where('entry_id', 'not in', pendingEntries)
        .execute(),
    };
  }

  async readIssues() {
    return {
      labels: await this.selectByRepository('labels').execute(),
      milestones: await this.selectByRepository('milestones').execute(),
      issues: await this.selectByRepository('issues').execute(),
      issue_labels: await this.#selectByIssue('issue_labels').execute(),
      issue_assignees: await this.#selectByIssue('issue_assignees').execute(),
      tracked_times: await this.#selectByIssue('tracked_times').execute(),
      issue_dependencies: await this.#selectByIssue('issue_dependencies').execute(),
      review_requests: await this.#selectByIssue('review_requests').execute(),
    };
  }

  /** Reads the protections of branches and tags, and the statuses of commits. */
  async readCommitRules() {
    return {
      protections: await this.selectByRepository('protections').execute(),
      tag_protections: await this.selectByRepository('tag_protections').execute(),
      commit_statuses: await this.selectByRepository('commit_statuses').execute(),
    };
  }

  async readReleases() {
    const ids = this.#db.selectFrom('releases').select('id').where('repository_id', '=', this.#id);
    return {
      releases: await this.selectByRepository('releases').execute(),
      release_assets: await this.#db.selectFrom('release_assets').selectAll().where('release_id', 'in', ids).execute(),
    };
  }

  selectByRepository(table: RepositoryTable) {
    return this.#db
      .selectFrom(table as 'labels')
      .selectAll()
      .where('repository_id', '=', this.#id);
  }

  #selectByIssue(table: IssueTable) {
    return this.#db
      .selectFrom(table as 'pulls')
      .selectAll()
      .where('issue_id', 'in', this.#issueIds());
  }

  #issueIds() {
    return this.#db.selectFrom('issues').select('id').where('repository_id', '=', this.#id);
  }

  #pendingEntryIds() {
    const pendingReviews = this.#db
      .selectFrom('reviews')
      .select('id')
      .where('issue_id', 'in', this.#issueIds())
      .where('state', '=', 'PENDING');
    return this.#db.selectFrom('issue_entries').select('id').where('review_id', 'in', pendingReviews);
  }
}
