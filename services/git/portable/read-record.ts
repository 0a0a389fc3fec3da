import type { Kysely } from 'kysely';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import { RepositoryRecord } from './record.ts';

/** Reads all data of a repository from the tables, without keys, hooks, collaborators and pending reviews. */
export async function readRecord(
  db: Kysely<Tables>,
  repository: Repository,
  savedAt: number,
): Promise<RepositoryRecord> {
  const { id, owner, name, description, website, archived, template, topics, options, defaultBranch } = repository;
  const selectRows = <
    Table extends
      | 'labels'
      | 'milestones'
      | 'issues'
      | 'protections'
      | 'tag_protections'
      | 'commit_statuses'
      | 'releases'
      | 'lfs_objects',
  >(
    table: Table,
  ) =>
    db
      .selectFrom(table as 'labels')
      .selectAll()
      .where('repository_id', '=', id)
      .execute();
  const issues = db.selectFrom('issues').select('id').where('repository_id', '=', id);
  const selectIssueRows = (
    table: 'issue_labels' | 'issue_assignees' | 'review_requests' | 'pulls' | 'tracked_times' | 'issue_dependencies',
  ) =>
    db
      .selectFrom(table as 'pulls')
      .selectAll()
      .where('issue_id', 'in', issues)
      .execute();
  const counter = await db
    .selectFrom('issue_counters')
    .select('last')
    .where('repository_id', '=', id)
    .executeTakeFirst();
  const releases = db.selectFrom('releases').select('id').where('repository_id', '=', id);
  const pulls = await selectIssueRows('pulls');
  const pendingReviews = db
    .selectFrom('reviews')
    .select('id')
    .where('issue_id', 'in', issues)
    .where('state', '=', 'PENDING');
  const reviews = await db
    .selectFrom('reviews')
    .selectAll()
    .where('issue_id', 'in', issues)
    .where('state', '!=', 'PENDING')
    .execute();
  const pendingEntries = db.selectFrom('issue_entries').select('id').where('review_id', 'in', pendingReviews);
  const entries = await db
    .selectFrom('issue_entries')
    .selectAll()
    .where('issue_id', 'in', issues)
    .where('id', 'not in', pendingEntries)
    .execute();
  const reactions = await db
    .selectFrom('issue_reactions')
    .selectAll()
    .where('issue_id', 'in', issues)
    .where('entry_id', 'not in', pendingEntries)
    .execute();
  const attachments = await db
    .selectFrom('issue_attachments')
    .selectAll()
    .where('issue_id', 'in', issues)
    .where('entry_id', 'not in', pendingEntries)
    .execute();
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
    lastNumber: counter?.last ?? 0,
    labels: await selectRows('labels'),
    milestones: await selectRows('milestones'),
    issues: await selectRows('issues'),
    issue_labels: await selectIssueRows('issue_labels'),
    issue_assignees: await selectIssueRows('issue_assignees'),
    issue_reactions: reactions,
    tracked_times: await selectIssueRows('tracked_times'),
    issue_dependencies: await selectIssueRows('issue_dependencies'),
    issue_attachments: attachments,
    reviews,
    review_requests: await selectIssueRows('review_requests'),
    issue_entries: entries,
    pulls: pulls.map((pull) => ({ ...pull, own: pull.head_repository_id === id })),
    protections: await selectRows('protections'),
    tag_protections: await selectRows('tag_protections'),
    commit_statuses: await selectRows('commit_statuses'),
    releases: await selectRows('releases'),
    release_assets: await db.selectFrom('release_assets').selectAll().where('release_id', 'in', releases).execute(),
    largeFiles: await selectRows('lfs_objects'),
  });
}
