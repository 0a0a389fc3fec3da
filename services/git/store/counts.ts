import { sql } from 'kysely';

/** Computed columns of a query over `repositories`. */
export const countColumns = [
  sql<number>`(select count(*) from stars where stars.repository_id = repositories.id)`.as('star_count'),
  sql<number>`(select count(*) from forks where forks.parent_id = repositories.id)`.as('fork_count'),
  sql<number>`(select count(*) from releases where releases.repository_id = repositories.id and releases.draft = 0)`.as(
    'release_count',
  ),
  sql<number | null>`(select forks.parent_id from forks where forks.repository_id = repositories.id)`.as('parent_id'),
  sql<number>`(select count(*) from issues where issues.repository_id = repositories.id and issues.closed = 0 and issues.pull = 0)`.as(
    'open_issues',
  ),
  sql<number>`(select count(*) from issues where issues.repository_id = repositories.id and issues.closed = 0 and issues.pull = 1)`.as(
    'open_pulls',
  ),
] as const;
