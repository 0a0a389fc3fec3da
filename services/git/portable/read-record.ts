import type { Kysely } from 'kysely';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import { RepositoryRecord } from './record.ts';

/** All that the tables say of a repository and that is its own: no keys, hooks or people who may use it. */
export async function readRecord(db: Kysely<Tables>, repository: Repository, savedAt: number): Promise<RepositoryRecord> {
  const { id, owner, name, description, website, archived, template, topics, options, defaultBranch } = repository;
  const all = <Table extends 'labels' | 'milestones' | 'issues' | 'protections' | 'commit_statuses' | 'releases' | 'lfs_objects'>(table: Table) =>
    db.selectFrom(table as 'labels').selectAll().where('repository_id', '=', id).execute();
  const issues = db.selectFrom('issues').select('id').where('repository_id', '=', id);
  const ofIssues = (table: 'issue_labels' | 'issue_assignees' | 'issue_reactions' | 'reviews' | 'review_requests' | 'issue_entries' | 'pulls') =>
    db.selectFrom(table as 'pulls').selectAll().where('issue_id', 'in', issues).execute();
  const counter = await db.selectFrom('issue_counters').select('last').where('repository_id', '=', id).executeTakeFirst();
  const releases = db.selectFrom('releases').select('id').where('repository_id', '=', id);
  const pulls = await ofIssues('pulls');
  // What the schema does not name is left out.
  return RepositoryRecord.parse({
    format: 'homeport-repository',
    version: 1,
    savedAt,
    repository: { owner, name, description, website, private: repository.private, archived, template, topics, options, defaultBranch },
    lastNumber: counter?.last ?? 0,
    labels: await all('labels'),
    milestones: await all('milestones'),
    issues: await all('issues'),
    issue_labels: await ofIssues('issue_labels'),
    issue_assignees: await ofIssues('issue_assignees'),
    issue_reactions: await ofIssues('issue_reactions'),
    reviews: await ofIssues('reviews'),
    review_requests: await ofIssues('review_requests'),
    issue_entries: await ofIssues('issue_entries'),
    pulls: pulls.map((pull) => ({ ...pull, own: pull.head_repository_id === id })),
    protections: await all('protections'),
    commit_statuses: await all('commit_statuses'),
    releases: await all('releases'),
    release_assets: await db.selectFrom('release_assets').selectAll().where('release_id', 'in', releases).execute(),
    largeFiles: await all('lfs_objects'),
  });
} // prettier-ignore
