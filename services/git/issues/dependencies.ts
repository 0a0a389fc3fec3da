import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { IssueRow } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { touch, type IssueWork } from './writer.ts';

/**
 * Makes an issue depend on another one, which must be closed first.
 * @throws Problem (422) if the dependency exists or would be circular
 */
export async function addDependency(work: IssueWork, issue: IssueRow, on: IssueRow): Promise<void> {
  const { db, now } = work;
  if (await waitsFor(db, on.id, issue.id))
    throw new Problem(
      'git.circular',
      422,
      'circular dependencies exists (two issues blocking each other) ' +
        `[issue: ${issue.number}, dependency: ${on.number}]`,
    );
  const { numInsertedOrUpdatedRows: added } = await db
    .insertInto('issue_dependencies')
    .values({ issue_id: issue.id, depends_on: on.id, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (added === 0n)
    throw new Problem(
      'git.dependency_taken',
      422,
      `issue dependency does already exist [issue: ${issue.number}, dependency: ${on.number}]`,
    );
  await touch(work, issue.id);
}

/**
 * Removes a dependency.
 * @throws Problem (404) if it does not exist
 */
export async function removeDependency(work: IssueWork, issue: IssueRow, on: IssueRow): Promise<void> {
  const { numDeletedRows } = await work.db
    .deleteFrom('issue_dependencies')
    .where('issue_id', '=', issue.id)
    .where('depends_on', '=', on.id)
    .executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) throw noDependency();
  await touch(work, issue.id);
}

/** Builds the same problem whether the other issue exists or not, because the caller may not be allowed to read it. */
export function noDependency(): Problem {
  return new Problem('git.unknown', 404, 'issue dependency does not exist');
}

/** Returns true if an issue has open dependencies. */
export async function isBlocked(db: Kysely<Tables>, issue: number): Promise<boolean> {
  const open = await db
    .selectFrom('issue_dependencies')
    .innerJoin('issues', 'issues.id', 'issue_dependencies.depends_on')
    .select('issues.id')
    .where('issue_dependencies.issue_id', '=', issue)
    .where('issues.closed', '=', 0)
    .executeTakeFirst();
  return open !== undefined;
}

/**
 * Checks that an issue has no open dependencies.
 * @throws Problem (412)
 */
export async function needUnblocked(db: Kysely<Tables>, issue: number): Promise<void> {
  if (!(await isBlocked(db, issue))) return;
  throw new Problem(
    'git.blocked',
    412,
    'cannot close this issue or pull request because it still has open dependencies',
  );
}

/** Returns true if an issue depends on another one, directly or indirectly. An issue counts as dependent on itself. */
async function waitsFor(db: Kysely<Tables>, issue: number, other: number): Promise<boolean> {
  const seen = new Set([issue]);
  let some = [issue];
  while (some.length > 0) {
    if (seen.has(other)) return true;
    const rows = await db.selectFrom('issue_dependencies').select('depends_on').where('issue_id', 'in', some).execute();
    some = [...new Set(rows.map(({ depends_on: id }) => id))].filter((id) => !seen.has(id));
    for (const id of some) seen.add(id);
  }
  return false;
}
