import type { Kysely } from 'kysely';
import type { MilestoneRow } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';

/** Milestone with the number of its open and closed issues. */
export interface Milestone extends MilestoneRow {
  readonly open_issues: number;
  readonly closed_issues: number;
}

/** Selects milestones with their issue counts. */
export function selectMilestones(db: Kysely<Tables>) {
  return db
    .selectFrom('milestones')
    .selectAll('milestones')
    .select((is) => {
      const issues = (closed: number) =>
        is
          .selectFrom('issues')
          .select((each) => each.fn.countAll<number>().as('count'))
          .whereRef('issues.milestone_id', '=', 'milestones.id')
          .where('issues.closed', '=', closed);
      return [issues(0).as('open_issues'), issues(1).as('closed_issues')];
    })
    .$castTo<Milestone>();
}

/** Lists the milestones of a repository by due date. */
export function listRepositoryMilestones(
  db: Kysely<Tables>,
  repository: number,
  closed?: boolean,
): Promise<Milestone[]> {
  let rows = selectMilestones(db).where('milestones.repository_id', '=', repository);
  if (closed !== undefined) rows = rows.where('milestones.closed', '=', Number(closed));
  return rows.orderBy('milestones.due_at').orderBy('milestones.id').execute();
}
